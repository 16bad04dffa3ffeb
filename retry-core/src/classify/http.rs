//! Classification of HTTP statuses and methods, and parsing of the headers by which a server asks for a wait or reports
//! its rate limit.
//!
//! This table classifies a status without a known error code:
//!
//! | status | safe | throttling | timeout | fault | source |
//! |---|---|---|---|---|---|
//! | below 400 | no (not an error) | | | other | |
//! | 408 Request Timeout | yes | | yes | client | RFC 9110, 15.5.9 |
//! | 425 Too Early | yes | | | client | RFC 8470, 5.2 |
//! | 429 Too Many Requests | yes | yes | | client | RFC 6585, 4 |
//! | 403 with a `Retry-After`, or with `x-ratelimit-remaining: 0` | yes | yes | | client | GitHub's documentation of its rate limits |
//! | any other 4xx | no | | | client | RFC 9110, 15.5 |
//! | 503 with a `Retry-After` | yes | yes | | server | RFC 9110, 15.6.4 |
//! | 509 (bandwidth limit exceeded), 529 (overloaded) | yes | yes | | server | widespread, in no RFC |
//! | 500, 502, 503 | maybe | | | server | RFC 9110, 15.6 |
//! | 504 Gateway Timeout | maybe | | yes | server | RFC 9110, 15.6.5 |
//! | 501, 505 | no | | | server | RFC 9110, 15.6.2 and 15.6.6 |
//! | any other 5xx | maybe | | | server | RFC 9110, 15.6 |
//! | above 599 | maybe | | | server | RFC 9110, 15: an invalid status is treated as a 5xx |
//!
//! The headers `retry-after-ms` and `x-ms-retry-after-ms` are a `Retry-After` in milliseconds. An `x-amz-retry-after`
//! is not: services send it with every kind of failure, so it is only a wait.
//!
//! Whether a *maybe* is retried depends on the request; see [`Classification::idempotent`] and [`idempotent_method`].
//! If the response has an AWS error code, use [`aws`](super::aws), which takes the code into account.
//!
//! ```
//! use retry_core::RetrySafety;
//! use retry_core::classify::http;
//!
//! let answer = http::status(502);
//! assert_eq!(answer.is_retry_safe(), RetrySafety::Maybe);
//! assert_eq!(answer.idempotent(http::idempotent_method("PUT")).is_retry_safe(), RetrySafety::Yes);
//! ```

pub use super::rate_limit::{RateLimit, rate_limit, rate_limit_remaining};
pub use super::retry_after::{retry_after, retry_after_millis};

use super::Classification;
use crate::error::{ErrorFault, RetrySafety};
use std::time::Duration;

/// Classifies a status by itself, by the [table](self).
///
/// ```
/// use retry_core::classify::{Classification, http};
///
/// const TOO_MANY: Classification = http::status(429);
/// assert!(TOO_MANY.is_throttle());
/// ```
pub const fn status(status: u16) -> Classification {
    status_with(status, None)
}

/// Classifies a status together with the wait from a `Retry-After` header, by the [table](self).
///
/// The wait is part of the result, whatever the status. A 503 or 403 with a wait, even a wait of zero, is throttling.
pub const fn status_with(status: u16, retry_after: Option<Duration>) -> Classification {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    let answer = match status {
        0..=399 => Classification::new(No),
        408 => Classification::new(Yes).with_timeout().with_fault(Client),
        425 => Classification::new(Yes).with_fault(Client),
        429 => Classification::new(Yes).with_throttling().with_fault(Client),
        403 if retry_after.is_some() => Classification::new(Yes).with_throttling().with_fault(Client),
        400..=499 => Classification::new(No).with_fault(Client),
        503 if retry_after.is_some() => Classification::new(Yes).with_throttling().with_fault(Server),
        509 | 529 => Classification::new(Yes).with_throttling().with_fault(Server),
        504 => Classification::new(Maybe).with_timeout().with_fault(Server),
        501 | 505 => Classification::new(No).with_fault(Server),
        500.. => Classification::new(Maybe).with_fault(Server),
    };
    answer.with_retry_after(retry_after)
}

/// Returns whether a method is idempotent: `true` for GET, HEAD, OPTIONS, TRACE, PUT and DELETE
/// ([RFC 9110, 9.2.2](https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2)), and for QUERY
/// ([The HTTP QUERY Method](https://datatracker.ietf.org/doc/draft-ietf-httpbis-safe-method-w-body/)).
///
/// POST, PATCH and unknown methods are not. Method names are case-sensitive (RFC 9110, 9.1), so `get` is unknown.
pub const fn idempotent_method(method: &str) -> bool {
    matches!(method.as_bytes(), b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" | b"PUT" | b"DELETE" | b"QUERY")
}

#[cfg(feature = "http")]
pub(super) mod types {
    use super::super::rate_limit::{REQUESTS, rate_limit_in, until_reset};
    use super::super::retry_after::{number, server_time};
    use super::{
        Classification, RateLimit, idempotent_method, rate_limit_remaining, retry_after, retry_after_millis,
        status_with,
    };
    use crate::error::RetrySafety;
    use http::header::{AsHeaderName, DATE, HeaderMap, RETRY_AFTER};
    use http::{Method, StatusCode};
    use std::time::{Duration, SystemTime};

    /// Classifies a response by its status and its headers.
    ///
    /// The wait is that of [`response_retry_after`]. The [table](super) says which headers make a 403 or a 503 throttling.
    ///
    /// `now` is used if a header holds a point in time and the response has no valid `Date` header.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// use http::{HeaderMap, HeaderValue, StatusCode, header};
    /// use retry_core::classify::http::response;
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert(header::RETRY_AFTER, HeaderValue::from_static("7"));
    /// let answer = response(StatusCode::SERVICE_UNAVAILABLE, &headers, SystemTime::now());
    /// assert!(answer.is_throttle());
    /// assert_eq!(answer.retry_after(), Some(Duration::from_secs(7)));
    /// ```
    pub fn response(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Classification {
        response_by(retry_after, status, headers, now)
    }

    /// Classifies a response as [`response`] does, and obeys what the server says about a retry.
    ///
    /// `Stripe-Should-Retry` and `x-should-retry` decide whether the error is retried: `false` means that it is not, and
    /// `true` that it is safe to retry. The case of the letters is ignored. Class and fault come from the status. Any other
    /// value is ignored, and so is a header that occurs twice. If the two headers differ, `false` is used.
    ///
    /// Any server can send these headers, so use this only for services that document one of them.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// use http::{HeaderMap, HeaderValue, StatusCode};
    /// use retry_core::classify::http::advised_response;
    /// use retry_core::{RetryInfo, RetrySafety};
    ///
    /// let mut headers = HeaderMap::new();
    /// let judge = |status, headers: &_| {
    ///     advised_response(status, headers, SystemTime::now()).is_retry_safe()
    /// };
    /// assert_eq!(judge(StatusCode::CONFLICT, &headers), RetrySafety::No);
    /// headers.insert("stripe-should-retry", HeaderValue::from_static("true"));
    /// assert_eq!(judge(StatusCode::CONFLICT, &headers), RetrySafety::Yes);
    /// headers.insert("stripe-should-retry", HeaderValue::from_static("false"));
    /// assert_eq!(judge(StatusCode::TOO_MANY_REQUESTS, &headers), RetrySafety::No);
    /// ```
    pub fn advised_response(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Classification {
        let answer = response(status, headers, now);
        if status.as_u16() < 400 {
            return answer;
        }
        let words = ["stripe-should-retry", "x-should-retry"].map(|name| should_retry(headers, name));
        // Yes is greater than no.
        match words.into_iter().flatten().min() {
            None => answer,
            Some(false) => answer.with_safety(RetrySafety::No),
            Some(true) => answer.with_safety(RetrySafety::Yes),
        }
    }

    /// Reads a header in which the server says whether to retry. Returns `None` if it says nothing.
    pub(in crate::classify) fn should_retry(headers: &HeaderMap, name: &str) -> Option<bool> {
        let value = only(headers, name)?.trim_matches([' ', '\t']);
        [true, false].into_iter().find(|word| value.eq_ignore_ascii_case(if *word { "true" } else { "false" }))
    }

    /// A parser for `Retry-After`, with the parameters of [`retry_after`].
    type ReadRetryAfter = fn(&str, Option<&str>, SystemTime) -> Option<Duration>;

    /// Classifies a response as [`response`] does, with another parser for `Retry-After`.
    pub(in crate::classify) fn response_by(
        read: ReadRetryAfter,
        status: StatusCode,
        headers: &HeaderMap,
        now: SystemTime,
    ) -> Classification {
        let mut wait = millis(headers, &RETRY_AFTER_MILLIS).or_else(|| seconds_or_date(read, headers, now));
        if status == StatusCode::FORBIDDEN && is_used_up(headers) {
            // It is throttling even if nothing says how long to wait.
            wait = wait.or(Some(Duration::ZERO));
        }
        status_with(status.as_u16(), wait).with_retry_after(retry_after_by(read, headers, now))
    }

    /// Classifies a response as [`response`] does, and turns [`RetrySafety::Maybe`](crate::RetrySafety::Maybe) into
    /// [`RetrySafety::Yes`](crate::RetrySafety::Yes) if the method of the request is [idempotent](idempotent_method).
    pub fn exchange(method: &Method, status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Classification {
        response(status, headers, now).idempotent(idempotent_method(method.as_str()))
    }

    /// Returns the wait that a response asks for, from the first of these that is present and well formed:
    ///
    /// 1. `x-amz-retry-after`, `retry-after-ms` and `x-ms-retry-after-ms`, in [milliseconds](retry_after_millis). If the
    ///    response has several of them, the longest wait is used, because no retry may come earlier than the server
    ///    asked.
    /// 2. [`Retry-After`](retry_after), in seconds or as a date.
    /// 3. `x-ratelimit-reset` beside `x-ratelimit-remaining: 0`, as [`rate_limit_remaining`] reads them.
    ///
    /// A header that occurs twice is a list (RFC 9110, 5.3), which is malformed here and ignored. The wait until a point
    /// in time starts at the `Date` of the response, or at `now` if that is missing or malformed.
    ///
    /// ```
    /// # use std::time::{Duration, SystemTime};
    /// use http::{HeaderMap, HeaderValue};
    /// use retry_core::classify::http::response_retry_after;
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("x-ratelimit-remaining", HeaderValue::from_static("0"));
    /// headers.insert("x-ratelimit-reset", HeaderValue::from_static("30"));
    /// assert_eq!(response_retry_after(&headers, SystemTime::now()), Some(Duration::from_secs(30)));
    /// headers.insert("retry-after-ms", HeaderValue::from_static("250"));
    /// assert_eq!(response_retry_after(&headers, SystemTime::now()), Some(Duration::from_millis(250)));
    /// ```
    pub fn response_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        retry_after_by(retry_after, headers, now)
    }

    fn retry_after_by(read: ReadRetryAfter, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        // `None` is less than any wait.
        millis(headers, &RETRY_AFTER_MILLIS)
            .max(millis(headers, &["x-amz-retry-after"]))
            .or_else(|| seconds_or_date(read, headers, now))
            .or_else(|| until_used_up_limit_resets(headers, now))
    }

    /// Returns what a response reports about the rate limit of the server.
    ///
    /// It reads the first of these headers that is present and well formed: `RateLimit`, `RateLimit-Remaining` and
    /// `X-RateLimit-Remaining`, the latter two with `RateLimit-Reset` and `X-RateLimit-Reset`. See
    /// [`rate_limit`](super::rate_limit) and [`rate_limit_remaining`] for their values.
    ///
    /// A limit whose `RateLimit-Policy` has a unit (`qu`) other than `requests`, such as `content-bytes`, is ignored here, and
    /// read by [`response_limit_in`]. A malformed `RateLimit-Policy` is ignored, too. The wait until a point in time starts at the `Date` of the
    /// response, or at `now` if that is missing or malformed.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// use http::{HeaderMap, HeaderValue};
    /// use retry_core::classify::http::{RateLimit, response_rate_limit};
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("x-ratelimit-remaining", HeaderValue::from_static("40"));
    /// assert_eq!(response_rate_limit(&headers, SystemTime::now()), Some(RateLimit::new(40)));
    /// headers.insert("ratelimit", HeaderValue::from_static(r#""default";r=50"#));
    /// assert_eq!(response_rate_limit(&headers, SystemTime::now()), Some(RateLimit::new(50)));
    /// ```
    pub fn response_rate_limit(headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
        let now = server_time(only(headers, DATE), now);
        let older = |remaining, reset| rate_limit_remaining(only(headers, remaining)?, only(headers, reset), now);
        response_limit_in(REQUESTS, headers)
            .or_else(|| older("ratelimit-remaining", "ratelimit-reset"))
            .or_else(|| older("x-ratelimit-remaining", "x-ratelimit-reset"))
    }

    /// Returns what a response reports about a limit in this unit, such as `content-bytes`: the value of `qu` in the header
    /// `RateLimit-Policy`. If several limits have this unit, the one with the least remaining is returned.
    ///
    /// It reads the header `RateLimit`. A limit without a unit is one of `requests`. If one of the two headers is malformed, no
    /// limit has another unit. Pass the result on with [`Usage::with_limit`](crate::policy::Usage::with_limit), for a
    /// [limiter of weights](crate::limit::PacedLimiter#weights).
    ///
    /// ```
    /// use http::{HeaderMap, HeaderValue};
    /// use retry_core::classify::http::{RateLimit, response_limit_in};
    ///
    /// let mut headers = HeaderMap::new();
    /// let policy = r#""calls";q=100;w=60, "volume";q=9000;w=60;qu="content-bytes""#;
    /// headers.insert("ratelimit-policy", HeaderValue::from_static(policy));
    /// headers.insert("ratelimit", HeaderValue::from_static(r#""calls";r=50, "volume";r=700"#));
    /// assert_eq!(response_limit_in("content-bytes", &headers), Some(RateLimit::new(700)));
    /// assert_eq!(response_limit_in("tokens", &headers), None);
    /// ```
    pub fn response_limit_in(unit: &str, headers: &HeaderMap) -> Option<RateLimit> {
        rate_limit_in(|of| of == unit, &list(headers, "ratelimit"), &list(headers, "ratelimit-policy"))
    }

    /// The headers that mean what `Retry-After` means.
    const RETRY_AFTER_MILLIS: [&str; 2] = ["retry-after-ms", "x-ms-retry-after-ms"];

    /// Returns the longest wait in these headers.
    fn millis(headers: &HeaderMap, names: &[&str]) -> Option<Duration> {
        names.iter().filter_map(|name| retry_after_millis(only(headers, *name)?)).max()
    }

    fn seconds_or_date(read: ReadRetryAfter, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        read(only(headers, RETRY_AFTER)?, only(headers, DATE), now)
    }

    /// Returns whether a response reports that no request remains.
    fn is_used_up(headers: &HeaderMap) -> bool {
        only(headers, "x-ratelimit-remaining").and_then(number) == Some(0)
    }

    fn until_used_up_limit_resets(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        let reset = only(headers, "x-ratelimit-reset").filter(|_| is_used_up(headers))?;
        until_reset(reset, server_time(only(headers, DATE), now))
    }

    /// Returns the lines of a header that is a list, which can be spread over several lines (RFC 9110, 5.3).
    fn list(headers: &HeaderMap, name: &str) -> String {
        let lines: Option<Vec<&str>> = headers.get_all(name).iter().map(|line| line.to_str().ok()).collect();
        lines.unwrap_or_default().join(",")
    }

    /// Returns the value of a header that occurs exactly once and is visible ASCII text.
    pub(in crate::classify) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?;
        if values.next().is_some() { None } else { value.to_str().ok() }
    }

    /// Classifies the status [by itself](super::status).
    impl From<StatusCode> for Classification {
        fn from(status: StatusCode) -> Self {
            super::status(status.as_u16())
        }
    }
}

#[cfg(feature = "http")]
pub use types::{advised_response, exchange, response, response_limit_in, response_rate_limit, response_retry_after};
