//! Classification of whole responses, by the types of the crate `http`.

use super::rate_limit::{REQUESTS, rate_limit_in, rate_limit_remaining, until_reset};
use super::retry_after::{number, retry_after, retry_after_millis, server_time};
use ::http::header::{AsHeaderName, DATE, HeaderMap, RETRY_AFTER};
use ::http::{Method, StatusCode};
use retry_core::RetrySafety;
use retry_core::classify::Classification;
use retry_core::classify::http::{RateLimit, idempotent_method, status_with};
use std::time::{Duration, SystemTime};

/// Classifies a response by its status and its headers.
///
/// The wait is that of [`response_retry_after`]. The [table](retry_core::classify::http#) says which headers make a 403 or a 503 throttling.
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

/// A parser for `Retry-After`, with the parameters of [`retry_after`].
type ReadRetryAfter = fn(&str, Option<&str>, SystemTime) -> Option<Duration>;

/// Classifies a response as [`response`] does, with another parser for `Retry-After`.
pub(crate) fn response_by(
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
/// 3. `x-ratelimit-reset` beside `x-ratelimit-remaining: 0`, as [`rate_limit_remaining`] reads them.
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
/// [`rate_limit`](super::rate_limit()) and [`rate_limit_remaining`] for their values.
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
/// limit has another unit. Pass the result on with [`Usage::with_limit`](retry_core::policy::Usage::with_limit), for a
/// limiter of weights.
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
pub(crate) fn only(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?;
    if values.next().is_some() { None } else { value.to_str().ok() }
}
