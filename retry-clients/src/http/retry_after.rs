//! Parsers for the headers by which a server asks for a wait.

use std::time::{Duration, SystemTime};

/// Returns the wait that a `Retry-After` header asks for, or `None` if the value is malformed. A malformed value is
/// ignored; it does not mean a wait of zero.
///
/// By [RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3) the value is one of these, with
/// optional spaces and tabs around it:
///
/// - A number of seconds. Only digits are allowed, so `-1`, `+1`, `1e3`, `120s` and `1, 2` are malformed. The number saturates
///   at `u64::MAX`. Many servers send a fraction, as in `1.5`, so that is read, too, and rounded up to a millisecond.
/// - With the feature `httpdate`, a date in any of the three forms of [RFC 9110,
///   5.6.7](https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.7). Without the feature, every date is malformed.
///   The wait is the time from `response_date`, the value of the response's own `Date` header, to this date; if
///   `response_date` is missing or malformed, the wait is counted from `now`. So a wrong client clock does no harm if
///   the response has a `Date`. A date in the past asks for a wait of zero.
///
/// A date with a year before 1970, a wrong weekday or a leap second (`:60`) is malformed, too. The two-digit years of
/// the obsolete second form mean 1970 to 2069.
///
/// ```
/// use retry_clients::http::retry_after;
/// use std::time::{Duration, SystemTime};
///
/// let now = SystemTime::now();
/// assert_eq!(retry_after("120", None, now), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after("1.5", None, now), Some(Duration::from_millis(1500)));
/// assert_eq!(retry_after("120s", None, now), None);
///
/// # #[cfg(feature = "httpdate")]
/// # {
/// // With the feature `httpdate`:
/// let date = Some("Sun, 06 Nov 1994 08:49:07 GMT");
/// let wait = retry_after("Sun, 06 Nov 1994 08:49:37 GMT", date, now);
/// assert_eq!(wait, Some(Duration::from_secs(30)));
/// # }
/// ```
pub fn retry_after(value: &str, response_date: Option<&str>, now: SystemTime) -> Option<Duration> {
    if let Some(wait) = seconds(value) {
        return Some(wait);
    }
    let until = date(value)?;
    Some(until.duration_since(server_time(response_date, now)).unwrap_or_default())
}

/// Returns the time in a `Date` header, or `now` if it is missing or malformed.
pub(crate) fn server_time(response_date: Option<&str>, now: SystemTime) -> SystemTime {
    response_date.and_then(date).unwrap_or(now)
}

/// Returns the wait that an `x-amz-retry-after`, `retry-after-ms` or `x-ms-retry-after-ms` header asks for, or `None` if
/// the value is malformed.
///
/// The value is a whole number of milliseconds: only digits, with optional spaces and tabs around them. The number
/// saturates at `u64::MAX`.
///
/// ```
/// use retry_clients::http::retry_after_millis;
/// use std::time::Duration;
///
/// assert_eq!(retry_after_millis("1500"), Some(Duration::from_millis(1500)));
/// assert_eq!(retry_after_millis("-100"), None);
/// ```
pub fn retry_after_millis(value: &str) -> Option<Duration> {
    number(value).map(Duration::from_millis)
}

/// Removes the whitespace around a field's value. Whitespace means spaces and tabs only (RFC 9110, 5.6.3).
fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// Reads digits with optional white space around them. The number saturates.
pub(crate) fn number(value: &str) -> Option<u64> {
    let digits = trim(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // Parsing a string of digits can only fail by overflow.
    Some(digits.parse().unwrap_or(u64::MAX))
}

/// Reads a number of seconds that may have a fraction, which is rounded up to a millisecond, because no retry may come earlier
/// than the server asked.
pub(crate) fn seconds(value: &str) -> Option<Duration> {
    let Some((whole, fraction)) = value.split_once('.') else { return number(value).map(Duration::from_secs) };
    let (whole, fraction) = (whole.trim_start_matches([' ', '\t']), fraction.trim_end_matches([' ', '\t']));
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !are_digits(whole) || !are_digits(fraction) {
        return None;
    }
    let Ok(seconds) = whole.parse() else { return Some(Duration::MAX) };
    let places = fraction.bytes().chain([b'0'; 3]).take(3);
    let millis = places.fold(0, |millis, digit| millis * 10 + u64::from(digit - b'0'));
    let is_cut = fraction.bytes().skip(3).any(|digit| digit != b'0');
    Some(Duration::from_secs(seconds).saturating_add(Duration::from_millis(millis + u64::from(is_cut))))
}

#[cfg(feature = "httpdate")]
fn date(value: &str) -> Option<SystemTime> {
    let text = trim(value);
    // `httpdate` trims as well, and would accept line breaks as whitespace.
    if text.contains(char::is_control) {
        return None;
    }
    // `httpdate` accepts any character in place of the space before the time in the second form. That space is the
    // first character of the suffix ` 08:49:37 GMT`, the 13th from the end.
    if text.ends_with("GMT") && text.bytes().rev().nth(12) != Some(b' ') {
        return None;
    }
    httpdate::parse_http_date(text).ok()
}

#[cfg(not(feature = "httpdate"))]
fn date(_: &str) -> Option<SystemTime> {
    None
}
