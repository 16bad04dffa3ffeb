//! Classification of whole responses, and their rate limits.

use super::headers::{duration, time_until};
use crate::http;
use crate::http::rate_limit::report;
use crate::http::responses::{limit_in, only, should_retry, until_reported_limit_resets};
use crate::http::retry_after::{number, server_time};
use ::http::header::DATE;
use ::http::{HeaderMap, StatusCode};
use retry_core::RetrySafety;
use retry_core::classify::Classification;
use retry_core::classify::http::RateLimit;
use std::time::{Duration, SystemTime};

/// Classifies a response by the code in its body, its status and its headers.
///
/// `known` is the classification of the code by a table, such as [`known_openai`](super::known_openai). If it is `None`, the
/// status decides, as in [`http::response`]. A status that says that this request can't succeed is stronger than a code and than
/// a `Retry-After`: the error is not retried. These are 402, 405, 406, 410, 411, 413 to 417, 422, 426, 428, 431, 451, 501 and 505.
/// For example, Groq sends `rate_limit_exceeded` with a 413 for a request with more tokens than its limit allows in a minute.
///
/// The headers add these, whatever decided:
///
/// - `x-should-retry: false` means that the error is not retried, and `x-should-retry: true` that it is safe to retry, in
///   upper or lower case. If the code or the status says no and the header says `true`, the status decides about the class and the
///   fault. Any other value is ignored. Elsewhere, only [`http::advised_response`] reads the header.
/// - The wait: `retry-after-ms` and its relatives, then `Retry-After`, then `x-ratelimit-reset`, as
///   [`http::response_retry_after`] reads them. If none of them is present and well formed, the wait is the reset of an exhausted
///   limit, of requests or of tokens. If several limits are exhausted, the longest wait is used:
///   - `x-ratelimit-remaining-requests: 0` with `x-ratelimit-reset-requests`, and the same for `-tokens`. The reset is a
///     [`duration`].
///   - `anthropic-ratelimit-requests-remaining: 0` with `anthropic-ratelimit-requests-reset`, and the same for `-tokens`,
///     `-input-tokens` and `-output-tokens`. The reset is a time of RFC 3339.
///   - If the error is throttling, the headers that [`http::response`] then reads.
/// - If `known` has its own wait, the longer wait is used.
///
/// A malformed header is ignored, as if it were missing. The wait until a point in time starts at the `Date` of the
/// response, or at `now` if that is missing or malformed.
///
/// ```
/// use http::{HeaderMap, HeaderValue, StatusCode};
/// use retry_clients::llm;
/// use retry_core::RetrySafety;
/// use std::time::{Duration, SystemTime};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("retry-after", HeaderValue::from_static("1.5"));
/// let judge = |code| {
///     let known = llm::known_openai(code);
///     llm::response(StatusCode::TOO_MANY_REQUESTS, &headers, known, SystemTime::now())
/// };
/// assert_eq!(judge("rate_limit_exceeded").retry_after(), Some(Duration::from_millis(1500)));
/// assert_eq!(judge("insufficient_quota").is_retry_safe(), RetrySafety::No);
/// ```
pub fn response(
    status: StatusCode,
    headers: &HeaderMap,
    known: Option<Classification>,
    now: SystemTime,
) -> Classification {
    let by_status = http::response(status, headers, now);
    let (by_status, known) = match (can_succeed(status), known) {
        (true, known) => (by_status, known.unwrap_or(by_status)),
        (false, known) => {
            let verdict = by_status.with_safety(RetrySafety::No);
            (verdict, verdict.with_retry_after(known.and_then(|known| known.retry_after())))
        }
    };
    let verdict = match should_retry(headers, "x-should-retry") {
        None => known,
        Some(false) => known.with_safety(RetrySafety::No),
        Some(true) if known.is_retry_safe() == RetrySafety::No => by_status.with_safety(RetrySafety::Yes),
        Some(true) => known.with_safety(RetrySafety::Yes),
    };
    let limits = || {
        let is_throttle = known.is_throttle() || by_status.is_throttle();
        let reported = is_throttle.then(|| until_reported_limit_resets(headers, now)).flatten();
        until_used_up_limits_reset(headers, now).max(reported)
    };
    // `None` is less than any wait.
    let wait = http::response_retry_after(headers, now).or_else(limits).max(known.retry_after());
    verdict.with_retry_after(wait)
}

/// Returns whether a request with this error status can succeed when it is sent again.
fn can_succeed(status: StatusCode) -> bool {
    !matches!(status.as_u16(), 402 | 405 | 406 | 410 | 411 | 413..=417 | 422 | 426 | 428 | 431 | 451 | 501 | 505)
}

/// Returns what a response reports about its limit on requests.
///
/// It reads the first of these that is present and well formed: `anthropic-ratelimit-requests-remaining`,
/// `x-ratelimit-remaining-requests`, and the headers that [`http::response_rate_limit`] reads. The reset is read as in
/// [`response`]; a malformed one is not known. [`response_token_limit`] reads the limits on tokens.
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use retry_clients::llm::response_rate_limit;
/// use retry_core::classify::http::RateLimit;
/// use std::time::{Duration, SystemTime};
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ratelimit-remaining-requests", HeaderValue::from_static("59"));
/// headers.insert("x-ratelimit-reset-requests", HeaderValue::from_static("1s"));
/// headers.insert("x-ratelimit-remaining-tokens", HeaderValue::from_static("3"));
/// let expected = RateLimit::new(59).with_reset(Some(Duration::from_secs(1)));
/// assert_eq!(response_rate_limit(&headers, SystemTime::now()), Some(expected));
/// ```
pub fn response_rate_limit(headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
    reports(Unit::Requests, headers, now).next().or_else(|| http::response_rate_limit(headers, now))
}

/// Returns what a response reports about its limits on tokens. If there are several, the one with the fewest tokens is
/// returned.
///
/// It reads `x-ratelimit-remaining-tokens`, and `anthropic-ratelimit-tokens-remaining` with its relatives `-input-tokens-` and
/// `-output-tokens-`; without them, the limit [in the unit](http::response_limit_in) `tokens`. The resets are read as in
/// [`response`]; a malformed one is not known.
///
/// A limiter of weights, such as `retry_limits::PacedLimiter`, gets it from the closure `used`, with what the attempt used:
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use retry_clients::llm::response_token_limit;
/// use retry_core::policy::Usage;
/// use std::time::SystemTime;
///
/// struct Answer {
///     tokens: u32,
///     headers: HeaderMap,
/// }
///
/// // For `used = |outcome| outcome.as_ref().map(usage).unwrap_or_default()`.
/// fn usage(answer: &Answer) -> Usage {
///     let limit = response_token_limit(&answer.headers, SystemTime::now());
///     Usage::new(answer.tokens).with_limit(limit)
/// }
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-ratelimit-remaining-tokens", HeaderValue::from_static("1200"));
/// let usage = usage(&Answer { tokens: 350, headers });
/// assert_eq!(usage.limit().map(|limit| limit.remaining()), Some(1200));
/// ```
pub fn response_token_limit(headers: &HeaderMap, now: SystemTime) -> Option<RateLimit> {
    let fewest = reports(Unit::Tokens, headers, now).min_by_key(RateLimit::remaining);
    fewest.or_else(|| limit_in("tokens", headers, now))
}

/// Returns the limits in this unit that are reported.
fn reports(unit: Unit, headers: &HeaderMap, now: SystemTime) -> impl Iterator<Item = RateLimit> {
    let now = server_time(only(headers, DATE), now);
    let limits = LIMITS.iter().filter(move |limit| limit.unit == unit);
    limits.filter_map(move |limit| Some(report(limit.remaining(headers)?, limit.reset(headers, now))))
}

#[derive(Clone, Copy, PartialEq)]
enum Unit {
    Requests,
    Tokens,
}

/// The headers of a limit.
struct Limit {
    unit: Unit,
    remaining: &'static str,
    reset: &'static str,
    read: fn(&str, SystemTime) -> Option<Duration>,
}

const fn openai(unit: Unit, remaining: &'static str, reset: &'static str) -> Limit {
    Limit { unit, remaining, reset, read: |value, _| duration(value) }
}

const fn anthropic(unit: Unit, remaining: &'static str, reset: &'static str) -> Limit {
    Limit { unit, remaining, reset, read: time_until }
}

static LIMITS: [Limit; 6] = [
    anthropic(Unit::Requests, "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset"),
    anthropic(Unit::Tokens, "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset"),
    anthropic(Unit::Tokens, "anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset"),
    anthropic(Unit::Tokens, "anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset"),
    openai(Unit::Requests, "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"),
    openai(Unit::Tokens, "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens"),
];

impl Limit {
    fn remaining(&self, headers: &HeaderMap) -> Option<u64> {
        number(only(headers, self.remaining)?)
    }

    fn reset(&self, headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
        (self.read)(only(headers, self.reset)?, now)
    }
}

fn until_used_up_limits_reset(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let now = server_time(only(headers, DATE), now);
    let used_up = LIMITS.iter().filter(|limit| limit.remaining(headers) == Some(0));
    used_up.filter_map(|limit| limit.reset(headers, now)).max()
}
