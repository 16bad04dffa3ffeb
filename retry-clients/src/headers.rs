//! Headers by which services tell each other about attempts and deadlines.
//!
//! | header | says | written by | read by |
//! |---|---|---|---|
//! | `grpc-previous-rpc-attempts` | the number of attempts before this one | [`grpc_previous_rpc_attempts`] | |
//! | `grpc-timeout` | how long the caller waits | [`grpc_timeout`] | [`grpc_deadline`] |
//! | `amz-sdk-request` | the number of this attempt, the maximum, and when the caller gives up | [`amz_sdk_request`] | |
//!
//! The functions write and read the values as text, so that they fit the metadata of any client and server. tonic has a setter
//! for the timeout, so there [`AttemptContext::time_left`] goes to `Request::set_timeout`.
//!
//! A service between a caller and a store uses the deadline of the caller, and tells the store about its attempts:
//!
//! ```
//! use retry_clients::headers;
//! use retry_core::time::Timestamp;
//! use retry_core::{AttemptContext, Clock, PatientRetryStrategy, RetryInfo};
//! use retry_core::{TimedOut, TokioTimer, retryable};
//! use std::collections::HashMap;
//! use std::time::{Duration, SystemTime};
//!
//! # #[derive(Debug, RetryInfo)]
//! # #[retry(transparent)]
//! # struct NoAnswer(TimedOut);
//! # impl From<TimedOut> for NoAnswer { fn from(error: TimedOut) -> Self { Self(error) } }
//! # async fn send(_: HashMap<&str, String>) -> Result<(), NoAnswer> { Ok(()) }
//! const MAX_ATTEMPTS: u32 = 3;
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new().max_attempts(MAX_ATTEMPTS);
//!
//! fn about(context: AttemptContext) -> HashMap<&'static str, String> {
//!     let amz = headers::amz_sdk_request(&context, Some(MAX_ATTEMPTS), SystemTime::now());
//!     let mut about = HashMap::from([("amz-sdk-request", amz)]);
//!     let earlier = headers::grpc_previous_rpc_attempts(&context);
//!     about.extend(earlier.map(|value| ("grpc-previous-rpc-attempts", value)));
//!     let timeout = context.time_left().map(headers::grpc_timeout);
//!     about.extend(timeout.map(|value| ("grpc-timeout", value)));
//!     about
//! }
//!
//! #[retryable(strategy = STORE, deadline = deadline, context = context)]
//! async fn get(deadline: Timestamp) -> Result<(), NoAnswer> {
//!     send(about(context)).await
//! }
//!
//! /// Handles a request with these headers. A caller without a deadline gets ten seconds.
//! async fn handle(request: &HashMap<&str, String>) -> Result<(), NoAnswer> {
//!     let timeout = request.get("grpc-timeout");
//!     let deadline = timeout.and_then(|value| headers::grpc_deadline(value, &TokioTimer));
//!     let default = TokioTimer.now().saturating_add(Duration::from_secs(10));
//!     get(deadline.unwrap_or(default)).await
//! }
//! ```

use retry_core::AttemptContext;
use retry_core::time::{Clock, Timestamp};
use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the value of `grpc-previous-rpc-attempts`, the number of attempts before this one. It is `None` for the first
/// attempt, which has no such header ([gRPC A6](https://github.com/grpc/proposal/blob/master/A6-client-retries.md#exposed-retry-metadata)).
pub fn grpc_previous_rpc_attempts(context: &AttemptContext) -> Option<String> {
    let previous = context.attempt().saturating_sub(1);
    (previous > 0).then(|| previous.to_string())
}

/// Returns the value of `amz-sdk-request`, as the AWS SDK for Rust writes it, such as
/// `attempt=2; max=3; ttl=2026-11-23T09:30:00Z`.
///
/// `max_attempts` is the maximum of the strategy. The context does not know it, because it can change while the program runs.
/// Without it, there is no `max`. The `ttl` is the time when the attempt is over, by the clock that says `now`, in whole seconds,
/// rounded down. It is left out without a [time limit](AttemptContext::time_left) or if its year has more than four digits.
pub fn amz_sdk_request(context: &AttemptContext, max_attempts: Option<u32>, now: SystemTime) -> String {
    let mut value = format!("attempt={}", context.attempt());
    if let Some(max) = max_attempts {
        // Writing to a `String` does not fail.
        _ = write!(value, "; max={max}");
    }
    let end = context.time_left().and_then(|time| now.duration_since(UNIX_EPOCH).ok()?.checked_add(time));
    if let Some(time) = end.and_then(|end| utc(end.as_secs())) {
        _ = write!(value, "; ttl={time}");
    }
    value
}

/// Returns the value of `grpc-timeout` for this time, such as `1500m`: at most eight digits and a unit, by the
/// [specification](https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
///
/// It is rounded down to the finest unit that fits, so the server never waits longer than the caller. A time of zero is one
/// nanosecond, because the value must be positive, and 99,999,999 hours is the longest.
pub fn grpc_timeout(time: Duration) -> String {
    let seconds = u128::from(time.as_secs());
    let values = [
        (time.as_nanos().max(1), 'n'),
        (time.as_micros(), 'u'),
        (time.as_millis(), 'm'),
        (seconds, 'S'),
        (seconds / 60, 'M'),
    ];
    let (value, unit) =
        values.into_iter().find(|(value, _)| *value <= MOST).unwrap_or_else(|| ((seconds / 3600).min(MOST), 'H'));
    format!("{value}{unit}")
}

/// The largest number that `grpc-timeout` can hold.
const MOST: u128 = 99_999_999;

/// Returns the deadline that an incoming `grpc-timeout` means, counted from the current time of this clock, for
/// [`Retry::deadline`](retry_core::Retry::deadline) or the option `deadline` of `#[retryable]`.
///
/// The value is one to eight digits and a unit: `H`, `M`, `S`, `m`, `u` or `n`. Any other value is ignored: the result is
/// `None`. The clock must be the timer of the call, which is `TokioTimer` unless the call sets another.
pub fn grpc_deadline(value: &str, clock: &impl Clock) -> Option<Timestamp> {
    let (digits, unit) = value.split_at_checked(value.len().checked_sub(1)?)?;
    if digits.is_empty() || digits.len() > 8 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number: u64 = digits.parse().ok()?;
    let time = match unit {
        "H" => Duration::from_secs(number * 3600),
        "M" => Duration::from_secs(number * 60),
        "S" => Duration::from_secs(number),
        "m" => Duration::from_millis(number),
        "u" => Duration::from_micros(number),
        "n" => Duration::from_nanos(number),
        _ => return None,
    };
    Some(clock.now().saturating_add(time))
}

/// Writes a time since 1970 as RFC 3339 does, or `None` from the year 10000 on.
fn utc(seconds: u64) -> Option<String> {
    let (mut days, second) = (seconds / 86_400, seconds % 86_400);
    let mut year = 1970;
    // Whole periods of the calendar first, so that the loop is short.
    let periods = days / DAYS_OF_400_YEARS;
    year += 400 * periods;
    days -= DAYS_OF_400_YEARS * periods;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(is_leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 1;
    for length in lengths {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    (year < 10_000).then(|| format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", days + 1))
}

const DAYS_OF_400_YEARS: u64 = 146_097;

const fn is_leap(year: u64) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}
