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
//! | any other 4xx | no | | | client | RFC 9110, 15.5 |
//! | 503 with a `Retry-After` | yes | yes | | server | RFC 9110, 15.6.4 |
//! | 509 (bandwidth limit exceeded) | yes | yes | | server | widespread, in no RFC |
//! | 500, 502, 503 | maybe | | | server | RFC 9110, 15.6 |
//! | 504 Gateway Timeout | maybe | | yes | server | RFC 9110, 15.6.5 |
//! | 501, 505 | no | | | server | RFC 9110, 15.6.2 and 15.6.6 |
//! | any other 5xx | maybe | | | server | RFC 9110, 15.6 |
//! | above 599 | maybe | | | server | RFC 9110, 15: an invalid status is treated as a 5xx |
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
/// The wait is part of the result, whatever the status. A 503 with a wait, even a wait of zero, is throttling.
pub const fn status_with(status: u16, retry_after: Option<Duration>) -> Classification {
    use ErrorFault::{Client, Server};
    use RetrySafety::{Maybe, No, Yes};

    let answer = match status {
        0..=399 => Classification::new(No),
        408 => Classification::new(Yes).with_timeout().with_fault(Client),
        425 => Classification::new(Yes).with_fault(Client),
        429 => Classification::new(Yes).with_throttling().with_fault(Client),
        400..=499 => Classification::new(No).with_fault(Client),
        503 if retry_after.is_some() => Classification::new(Yes).with_throttling().with_fault(Server),
        509 => Classification::new(Yes).with_throttling().with_fault(Server),
        504 => Classification::new(Maybe).with_timeout().with_fault(Server),
        501 | 505 => Classification::new(No).with_fault(Server),
        500.. => Classification::new(Maybe).with_fault(Server),
    };
    answer.with_retry_after(retry_after)
}

/// Returns whether a method is idempotent: `true` for GET, HEAD, OPTIONS, TRACE, PUT and DELETE
/// ([RFC 9110, 9.2.2](https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.2)).
///
/// POST, PATCH and unknown methods are not. Method names are case-sensitive (RFC 9110, 9.1), so `get` is unknown.
pub const fn idempotent_method(method: &str) -> bool {
    matches!(method.as_bytes(), b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" | b"PUT" | b"DELETE")
}

#[cfg(feature = "http")]
mod types {
    use super::{
        Classification, RateLimit, idempotent_method, rate_limit, rate_limit_remaining, retry_after,
        retry_after_millis, status_with,
    };
    use http::header::{AsHeaderName, DATE, HeaderMap, RETRY_AFTER};
    use http::{Method, StatusCode};
    use std::time::{Duration, SystemTime};

    /// Classifies a response by its status and its headers.
    ///
    /// The wait is that of [`response_retry_after`]. Only a `Retry-After` makes a 503 throttling. An
    /// `x-amz-retry-after` does not, because services send it with every kind of failure.
    ///
    /// `now` is used if a `Retry-After` is a date and the response has no valid `Date` header.
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
        status_with(status.as_u16(), standard_wait(headers, now)).with_retry_after(response_retry_after(headers, now))
    }

    /// Classifies a response as [`response`] does, and turns [`RetrySafety::Maybe`](crate::RetrySafety::Maybe) into
    /// [`RetrySafety::Yes`](crate::RetrySafety::Yes) if the method of the request is [idempotent](idempotent_method).
    pub fn exchange(method: &Method, status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Classification {
        response(status, headers, now).idempotent(idempotent_method(method.as_str()))
    }

    /// Returns the wait that a response asks for in its `Retry-After` or `x-amz-retry-after` header.
    ///
    /// If it has both, the longer wait counts, because no retry may come earlier than the server asked. A header that
    /// occurs twice is a list (RFC 9110, 5.3), which is malformed here and ignored. See
    /// [`retry_after`] for the values, and for the roles of the `Date` header and of `now`.
    pub fn response_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        // `None` is less than any wait.
        standard_wait(headers, now).max(only(headers, "x-amz-retry-after").and_then(retry_after_millis))
    }

    /// Returns what a response reports about the rate limit of the server.
    ///
    /// The first of these headers that is there and not malformed counts: `RateLimit`, `RateLimit-Remaining` and
    /// `X-RateLimit-Remaining`, the latter two with `RateLimit-Reset` and `X-RateLimit-Reset`. See [`rate_limit`] and
    /// [`rate_limit_remaining`] for their values and for the role of `now`.
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
        // A list can be spread over several lines (RFC 9110, 5.3).
        let lines: Option<Vec<&str>> = headers.get_all("ratelimit").iter().map(|line| line.to_str().ok()).collect();
        let older = |remaining, reset| rate_limit_remaining(only(headers, remaining)?, only(headers, reset), now);
        rate_limit(&lines.unwrap_or_default().join(","))
            .or_else(|| older("ratelimit-remaining", "ratelimit-reset"))
            .or_else(|| older("x-ratelimit-remaining", "x-ratelimit-reset"))
    }

    fn standard_wait(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        retry_after(only(headers, RETRY_AFTER)?, only(headers, DATE), now)
    }

    /// Returns the value of a header that occurs exactly once and is visible ASCII text.
    fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
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
pub use types::{exchange, response, response_rate_limit, response_retry_after};
