//! Parsers for the values of headers.

use std::time::Duration;
#[cfg(feature = "http")]
use std::time::{SystemTime, UNIX_EPOCH};

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// Reads a duration such as `120ms`, `1s`, `6m0s` or `1h2m3s`, or returns `None` if the text is malformed.
///
/// It is a sequence of numbers, each with its unit: `h`, `m`, `s`, `ms`, `us`, `µs` or `ns`. A number has digits, and may
/// have a fraction, as in `58.934310785s`. Spaces and tabs around the whole text are ignored. A number without a unit, a sign
/// and any other text are malformed. Durations that do not fit saturate at [`Duration::MAX`].
///
/// `OpenAI` sends such values in `x-ratelimit-reset-requests` and `-tokens`, and Google in the `retryDelay` of a `RetryInfo`.
///
/// ```
/// use retry_clients::llm::duration;
/// use std::time::Duration;
///
/// assert_eq!(duration("6m0s"), Some(Duration::from_secs(360)));
/// assert_eq!(duration("0.25s"), Some(Duration::from_millis(250)));
/// assert_eq!(duration("30"), None);
/// ```
pub fn duration(value: &str) -> Option<Duration> {
    let mut rest = trim(value);
    let mut nanos: u128 = 0;
    loop {
        let number = rest.find(|character: char| !character.is_ascii_digit() && character != '.')?;
        let (number, after) = rest.split_at(number);
        let unit = after.find(|character: char| character.is_ascii_digit()).unwrap_or(after.len());
        let (unit, after) = after.split_at(unit);
        nanos = nanos.saturating_add(scaled(number, nanos_of(unit)?)?);
        rest = after;
        if rest.is_empty() {
            return Some(from_nanos(nanos));
        }
    }
}

fn nanos_of(unit: &str) -> Option<u128> {
    match unit {
        "h" => Some(3600 * NANOS_PER_SEC),
        "m" => Some(60 * NANOS_PER_SEC),
        "s" => Some(NANOS_PER_SEC),
        "ms" => Some(1_000_000),
        // The letter mu and the micro sign.
        "us" | "\u{3bc}s" | "\u{b5}s" => Some(1000),
        "ns" => Some(1),
        _ => None,
    }
}

/// Reads digits with an optional fraction as a multiple of a unit, rounded up to a nanosecond.
fn scaled(number: &str, unit: u128) -> Option<u128> {
    /// More digits are below a nanosecond, even of an hour.
    const DIGITS: usize = 18;

    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    digits(fraction)?;
    let read = fraction.get(..DIGITS).unwrap_or(fraction);
    let parts = digits(read)?.saturating_mul(unit);
    let nanos = parts.div_ceil(10_u128.checked_pow(u32::try_from(read.len()).ok()?)?);
    Some(digits(whole)?.saturating_mul(unit).saturating_add(nanos))
}

/// Reads digits. The number saturates.
fn digits(text: &str) -> Option<u128> {
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(u128::MAX))
}

fn from_nanos(nanos: u128) -> Duration {
    let Ok(secs) = u64::try_from(nanos / NANOS_PER_SEC) else { return Duration::MAX };
    Duration::new(secs, u32::try_from(nanos % NANOS_PER_SEC).unwrap_or_default())
}

/// Reads a time of RFC 3339, such as `2026-01-02T03:04:05Z`, as the time from `now` until then. A time in the past is zero.
#[cfg(feature = "http")]
pub(super) fn time_until(value: &str, now: SystemTime) -> Option<Duration> {
    let value = trim(value);
    let (date, time) = value.split_once(['T', 't'])?;
    let zone = time.find(['Z', 'z', '+', '-'])?;
    let (clock, zone) = time.split_at(zone);
    let (clock, fraction) = clock.split_once('.').map_or((clock, None), |(clock, fraction)| (clock, Some(fraction)));
    let [year, month, day] = fields(date, '-', [4, 2, 2])?;
    let [hour, minute, second] = fields(clock, ':', [2, 2, 2])?;
    if !(1..=12).contains(&month) || !(1..=days_of(year, month)).contains(&day) || second > 59 {
        return None;
    }
    let since_1970 = days_since_1970(year, month, day) * 86_400 + time_of_day(hour, minute)? + second - offset(zone)?;
    let fraction = fraction.map_or(Some(0), |fraction| scaled(&format!("0.{fraction}"), NANOS_PER_SEC))?;
    // A time before 1970 is past.
    let Ok(since_1970) = u64::try_from(since_1970) else { return Some(Duration::ZERO) };
    let until = Duration::from_secs(since_1970) + from_nanos(fraction);
    Some(until.saturating_sub(now.duration_since(UNIX_EPOCH).unwrap_or_default()))
}

/// Reads three numbers of fixed lengths.
#[cfg(feature = "http")]
fn fields(text: &str, separator: char, lengths: [usize; 3]) -> Option<[i64; 3]> {
    let mut numbers = [0; 3];
    let mut parts = text.split(separator);
    for (number, length) in numbers.iter_mut().zip(lengths) {
        *number = fixed(parts.next()?, length)?;
    }
    parts.next().is_none().then_some(numbers)
}

#[cfg(feature = "http")]
fn fixed(text: &str, length: usize) -> Option<i64> {
    if text.len() == length { i64::try_from(digits(text)?).ok() } else { None }
}

/// Reads the offset from UTC, in seconds: `Z`, or hours and minutes after a sign.
#[cfg(feature = "http")]
fn offset(zone: &str) -> Option<i64> {
    let sign = match zone.chars().next()? {
        'Z' | 'z' if zone.len() == 1 => return Some(0),
        '+' => 1,
        '-' => -1,
        _ => return None,
    };
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    Some(sign * time_of_day(fixed(hours, 2)?, fixed(minutes, 2)?)?)
}

#[cfg(feature = "http")]
fn time_of_day(hour: i64, minute: i64) -> Option<i64> {
    (hour < 24 && minute < 60).then_some(hour * 3600 + minute * 60)
}

#[cfg(feature = "http")]
fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Returns the number of days from 1970-01-01 to a date of the Gregorian calendar, negative before.
#[cfg(feature = "http")]
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leap_days = before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let of_year: i64 = (1..month).map(|month| days_of(year, month)).sum();
    // From 0001-01-01 to 1970-01-01 there are 719,162 days.
    before * 365 + leap_days + of_year + day - 1 - 719_162
}

fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}
