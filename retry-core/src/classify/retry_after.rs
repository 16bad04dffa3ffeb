//! The headers by which a server asks to wait.

use std::time::{Duration, SystemTime};

/// The wait that a header `Retry-After` asks for, or `None` if it is malformed: then it says nothing, which is not the
/// same as no wait.
///
/// By [RFC 9110, 10.2.3](https://www.rfc-editor.org/rfc/rfc9110.html#section-10.2.3) the value is one of these, with
/// spaces and tabs around it allowed:
///
/// - A whole number of seconds: digits and nothing else, so `-1`, `+1`, `1.5`, `1e3`, `120s` and `1, 2` are malformed. A
///   number above `u64::MAX` counts as `u64::MAX`.
/// - With the feature `httpdate`, a date in any of the three forms of
///   [RFC 9110, 5.6.7](https://www.rfc-editor.org/rfc/rfc9110.html#section-5.6.7); without it, every date is taken as
///   malformed. The wait lasts from the response's own header `Date`, if that is passed on and well-formed, otherwise
///   from `now`. So a client's clock that is wrong does no harm where the server tells its time. A date that is past
///   asks for a wait of zero.
///
/// These count as malformed, too: a year before 1970, a weekday that isn't that day's, a leap second (`:60`). The two
/// digits of a year in the obsolete second form mean 1970 to 2069.
///
/// ```
/// use retry_core::classify::http::retry_after;
/// use std::time::{Duration, SystemTime};
///
/// let now = SystemTime::now();
/// assert_eq!(retry_after("120", None, now), Some(Duration::from_secs(120)));
/// assert_eq!(retry_after("120s", None, now), None);
///
/// # #[cfg(feature = "httpdate")]
/// # {
/// // With the feature `httpdate`:
/// let date = Some("Sun, 06 Nov 1994 08:49:07 GMT");
/// assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT", date, now), Some(Duration::from_secs(30)));
/// # }
/// ```
pub fn retry_after(value: &str, response_date: Option<&str>, now: SystemTime) -> Option<Duration> {
    if let Some(seconds) = number(value) {
        return Some(Duration::from_secs(seconds));
    }
    let until = date(value)?;
    let since = response_date.and_then(date).unwrap_or(now);
    Some(until.duration_since(since).unwrap_or_default())
}

/// The wait that a header `x-amz-retry-after` asks for, or `None` if it is malformed.
///
/// The value is a whole number of milliseconds: digits and nothing else, with spaces and tabs around it allowed. A number
/// above `u64::MAX` counts as `u64::MAX`.
///
/// ```
/// use retry_core::classify::http::retry_after_millis;
/// use std::time::Duration;
///
/// assert_eq!(retry_after_millis("1500"), Some(Duration::from_millis(1500)));
/// assert_eq!(retry_after_millis("-100"), None);
/// ```
pub fn retry_after_millis(value: &str) -> Option<Duration> {
    number(value).map(Duration::from_millis)
}

/// A field's value without the whitespace around it, which is spaces and tabs only (RFC 9110, 5.6.3).
fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

fn number(value: &str) -> Option<u64> {
    let digits = trim(value);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // All that can go wrong with digits is that they are too many.
    Some(digits.parse().unwrap_or(u64::MAX))
}

#[cfg(feature = "httpdate")]
fn date(value: &str) -> Option<SystemTime> {
    let text = trim(value);
    // The parser trims as well, and line ends are whitespace to it.
    if text.contains(char::is_control) {
        return None;
    }
    // It takes any character for the space before the time in the second form. What follows is ` 08:49:37 GMT`.
    if text.ends_with("GMT") && text.bytes().rev().nth(12) != Some(b' ') {
        return None;
    }
    httpdate::parse_http_date(text).ok()
}

#[cfg(not(feature = "httpdate"))]
fn date(_: &str) -> Option<SystemTime> {
    None
}
