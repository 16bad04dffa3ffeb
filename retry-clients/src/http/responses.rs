//! Classification of whole responses, by the types of the crate `http`.

use super::rate_limit::{REQUESTS, rate_limit_in, report, requests, until_reset};
use super::retry_after::{retry_after, retry_after_millis, server_time};
use ::http::header::{AsHeaderName, DATE, HeaderMap, RETRY_AFTER};
use ::http::{Method, StatusCode};
use retry_core::RetrySafety;
use retry_core::classify::Classification;
use retry_core::classify::http::{RateLimit, idempotent_method, status_with};
use std::time::{Duration, SystemTime};

/// Classifies a response by its status and its headers.
///
/// The [table](retry_core::classify::http#) says what headers change. The wait is that of [`response_retry_after`]. If the
/// response is throttling and has no such header, it is the reset of a limit of which nothing remains, by `RateLimit`, or by
/// `RateLimit-Remaining: 0` and `RateLimit-Reset`. Of several such limits, the last reset is used, whatever the unit of the limit.
///
/// `now` is used if a header holds a point in time and the response has no valid `Date` header.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// use http::{HeaderMap, HeaderValue, StatusCode, header};
/// use retry_clients::http::response;
///
/// let mut headers = HeaderMap::new();
/// headers.insert(header::RETRY_AFTER, HeaderValue::from_static("7"));
/// let answer = response(StatusCode::SERVICE_UNAVAILABLE, &headers, SystemTime::now());
/// assert!(answer.is_throttle());
/// assert_eq!(answer.retry_after(), Some(Duration::from_secs(7)));
///
/// let mut headers = HeaderMap::new();
/// headers.insert("ratelimit", HeaderValue::from_static(r#""default";r=0;t=58"#));
/// let answer = response(StatusCode::TOO_MANY_REQUESTS, &headers, SystemTime::now());
/// assert_eq!(answer.retry_after(), Some(Duration::from_secs(58)));
/// ```
pub fn response(status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Classification {
    let mut wait = millis(headers, &RETRY_AFTER_MILLIS).or_else(|| seconds_or_date(headers, now));
    if status == StatusCode::FORBIDDEN && FAMILIES.iter().any(|family| family.remaining(headers) == Some(0)) {
        // It is throttling even if nothing says how long to wait.
        wait = wait.or(Some(Duration::ZERO));
    }
    with_wait(status_with(status.as_u16(), wait), headers, now)
}

/// Sets the wait that the headers of a failure ask for.
pub(crate) fn with_wait(verdict: Classification, headers: &HeaderMap, now: SystemTime) -> Classification {
    let reported = || verdict.is_throttle().then(|| until_reported_limit_resets(headers, now)).flatten();
    verdict.with_retry_after(response_retry_after(headers, now).or_else(reported))
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
/// use retry_clients::http::advised_response;
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
pub(crate) fn should_retry(headers: &HeaderMap, name: &str) -> Option<bool> {
    let value = only(headers, name)?.trim_matches([' ', '\t']);
    [true, false].into_iter().find(|word| value.eq_ignore_ascii_case(if *word { "true" } else { "false" }))
}

/// Classifies a response as [`response`] does, and turns [`RetrySafety::Maybe`](retry_core::RetrySafety::Maybe) into
/// [`RetrySafety::Yes`](retry_core::RetrySafety::Yes) if the method of the request is [idempotent](idempotent_method).
pub fn exchange(method: &Method, status: StatusCode, headers: &HeaderMap, now: SystemTime) -> Classification {
    response(status, headers, now).idempotent(idempotent_method(method.as_str()))
}

/// Returns the wait that a response asks for, from the first of these that is present and well formed:
///
/// 1. `x-amz-retry-after`, `retry-after-ms` and `x-ms-retry-after-ms`, in [milliseconds](retry_after_millis). If the
///    response has several of them, the longest wait is used, because no retry may come earlier than the server
///    asked.
/// 2. [`Retry-After`](retry_after), in seconds or as a date.
/// 3. `x-ratelimit-reset-after` or `x-ratelimit-reset` beside `x-ratelimit-remaining: 0`, as
///    [`rate_limit_remaining`](super::rate_limit_remaining) reads them. The names may begin with `x-rate-limit`, too.
///
/// [`response`] also has the wait of a response that is throttling and reports its limit in other headers.
///
/// A header that occurs twice is a list (RFC 9110, 5.3), which is malformed here and ignored. The wait until a point
/// in time starts at the `Date` of the response, or at `now` if that is missing or malformed.
///
/// ```
/// # use std::time::{Duration, SystemTime};
/// use http::{HeaderMap, HeaderValue};
/// use retry_clients::http::response_retry_after;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ratelimit-remaining", HeaderValue::from_static("0"));
/// headers.insert("x-ratelimit-reset", HeaderValue::from_static("30"));
/// assert_eq!(response_retry_after(&headers, SystemTime::now()), Some(Duration::from_secs(30)));
/// headers.insert("retry-after-ms", HeaderValue::from_static("250"));
/// assert_eq!(response_retry_after(&headers, SystemTime::now()), Some(Duration::from_millis(250)));
/// ```
pub fn response_retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    // `None` is less than any wait.
    millis(headers, &RETRY_AFTER_MILLIS)
        .max(millis(headers, &["x-amz-retry-after"]))
        .or_else(|| seconds_or_date(headers, now))
        .or_else(|| FAMILIES.iter().filter_map(|family| family.until_used_up_resets(headers, now)).max())
}

/// Returns what a response reports about the rate limit of the server.
///
/// It reads the first of these headers that is present and well formed: `RateLimit`, `RateLimit-Remaining`,
/// `X-RateLimit-Remaining` and `X-Rate-Limit-Remaining`, the latter three with the header that ends in `-Reset-After` or, without
/// it, in `-Reset`. See [`rate_limit`](super::rate_limit()) and [`rate_limit_remaining`](super::rate_limit_remaining) for their
/// values. A time since 1970 is also read in `RateLimit`, because some servers send it there.
///
/// A limit whose `RateLimit-Policy` has a unit (`qu`) other than `requests`, such as `content-bytes`, is ignored here, and
/// read by [`response_limit_in`]. A malformed `RateLimit-Policy` is ignored, too. The wait until a point in time starts at the `Date` of the
/// response, or at `now` if that is missing or malformed.
///
/// ```
/// # use std::time::SystemTime;
/// use http::{HeaderMap, HeaderValue};
/// use retry_clients::http::response_rate_limit;
/// use retry_core::classify::http::RateLimit;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ratelimit-remaining", HeaderValue::from_static("40"));
/// assert_eq!(response_rate_limit(&headers, SystemTime::now()), Some(RateLimit::new(40)));
/// headers.insert("ratelimit", HeaderValue::from_static(r#""default";r=50"#));
/// assert_eq!(response_rate_limit(&headers, SystemTime::now()), Some(RateLimit::new(50)));
/// ```
pub fn response_rate_limit(headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
    let (first, others) = (&IETF, &FAMILIES);
    limit_in(REQUESTS, headers, now)
        .or_else(|| std::iter::once(first).chain(others).find_map(|family| family.report(headers, now)))
}

/// Returns what a response reports about a limit in this unit, such as `content-bytes`: the value of `qu` in the header
/// `RateLimit-Policy`. If several limits have this unit, the one with the least remaining is returned.
///
/// It reads the header `RateLimit`. A time since 1970 counts from the `Date` of the response, or from the current time. A limit
/// without a unit is one of `requests`. If one of the two headers is malformed, no limit has another unit. Pass
/// the result on with [`Usage::with_limit`](retry_core::policy::Usage::with_limit), for a limiter of weights.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use retry_clients::http::response_limit_in;
/// use retry_core::classify::http::RateLimit;
///
/// let mut headers = HeaderMap::new();
/// let policy = r#""calls";q=100;w=60, "volume";q=9000;w=60;qu="content-bytes""#;
/// headers.insert("ratelimit-policy", HeaderValue::from_static(policy));
/// headers.insert("ratelimit", HeaderValue::from_static(r#""calls";r=50, "volume";r=700"#));
/// assert_eq!(response_limit_in("content-bytes", &headers), Some(RateLimit::new(700)));
/// assert_eq!(response_limit_in("tokens", &headers), None);
/// ```
pub fn response_limit_in(unit: &str, headers: &HeaderMap) -> Option<RateLimit> {
    limit_in(unit, headers, SystemTime::now())
}

/// Returns what [`response_limit_in`] does, where a time since 1970 counts from `now` without a `Date`.
pub(crate) fn limit_in(unit: &str, headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
    ietf_limit(|of| of == unit, headers, now)
}

fn ietf_limit(accepts: impl Fn(&str) -> bool, headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
    let now = server_time(only(headers, DATE), now);
    rate_limit_in(accepts, &list(headers, "ratelimit"), &list(headers, "ratelimit-policy"), now)
}

/// Returns the wait until the last reset of the limits of which nothing remains, by the headers of the IETF's drafts.
pub(crate) fn until_reported_limit_resets(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let used_up = ietf_limit(|_| true, headers, now).filter(|limit| limit.remaining() == 0);
    used_up.and_then(|limit| limit.reset()).max(IETF.until_used_up_resets(headers, now))
}

/// The headers of a limit in one spelling.
struct Family {
    remaining: &'static str,
    /// The finer one comes first.
    resets: [&'static str; 2],
}

/// The headers of older drafts of the IETF.
static IETF: Family = Family { remaining: "ratelimit-remaining", resets: ["ratelimit-reset-after", "ratelimit-reset"] };

/// The headers that are widespread, and in no RFC.
static FAMILIES: [Family; 2] = [
    Family { remaining: "x-ratelimit-remaining", resets: ["x-ratelimit-reset-after", "x-ratelimit-reset"] },
    Family { remaining: "x-rate-limit-remaining", resets: ["x-rate-limit-reset-after", "x-rate-limit-reset"] },
];

impl Family {
    fn remaining(&self, headers: &HeaderMap) -> Option<u64> {
        requests(only(headers, self.remaining)?)
    }

    fn reset(&self, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        let now = server_time(only(headers, DATE), now);
        self.resets.iter().find_map(|name| until_reset(only(headers, *name)?, now))
    }

    fn report(&self, headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
        Some(report(self.remaining(headers)?, self.reset(headers, now)))
    }

    fn until_used_up_resets(&self, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        if self.remaining(headers)? == 0 { self.reset(headers, now) } else { None }
    }
}

/// The headers that mean what `Retry-After` means.
const RETRY_AFTER_MILLIS: [&str; 2] = ["retry-after-ms", "x-ms-retry-after-ms"];

/// Returns the longest wait in these headers.
fn millis(headers: &HeaderMap, names: &[&str]) -> Option<Duration> {
    names.iter().filter_map(|name| retry_after_millis(only(headers, *name)?)).max()
}

fn seconds_or_date(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    retry_after(only(headers, RETRY_AFTER)?, only(headers, DATE), now)
}

/// Returns the lines of a header that is a list, which can be spread over several lines (RFC 9110, 5.3).
fn list(headers: &HeaderMap, name: &str) -> String {
    let lines: Option<Vec<&str>> = headers.get_all(name).iter().map(|line| line.to_str().ok()).collect();
    lines.unwrap_or_default().join(",")
}

/// Returns the value of a header that occurs exactly once and is visible ASCII text.
pub(crate) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
