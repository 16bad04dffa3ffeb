//! Parsers for the headers by which a server reports how much of its rate limit remains.

use super::retry_after::{number, seconds};
use retry_core::classify::http::RateLimit;
use std::cmp::Reverse;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns what a `RateLimit` header reports, or `None` if the value is malformed.
///
/// The value is the list of
/// [draft-ietf-httpapi-ratelimit-headers](https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/): the name
/// of each limit with the parameters `r`, the requests that remain, and `t`, the seconds until the reset. If there are
/// several limits, the one with the fewest remaining requests is returned. The form of older drafts, with `remaining` and
/// `reset`, is read, too.
///
/// All limits are read as limits of requests. With the feature `http`, `response_rate_limit` and `response_limit_in` also read their
/// units.
///
/// ```
/// use retry_clients::http::rate_limit;
/// use retry_core::classify::http::RateLimit;
/// use std::time::Duration;
///
/// let thirty = Some(Duration::from_secs(30));
/// assert_eq!(rate_limit(r#""default";r=50;t=30"#), Some(RateLimit::new(50).with_reset(thirty)));
/// assert_eq!(rate_limit(r#""day";r=900;t=36000, "second";r=5"#), Some(RateLimit::new(5)));
/// let limit = Some(RateLimit::new(50).with_reset(thirty));
/// assert_eq!(rate_limit("limit=100, remaining=50, reset=30"), limit);
/// assert_eq!(rate_limit(r#""default";r=-1"#), None);
/// ```
pub fn rate_limit(value: &str) -> Option<RateLimit> {
    read(value, |_| true, |seconds| Some(Duration::from_secs(seconds)))
}

/// Creates a report whose reset is rounded up to seconds, because no request may come earlier than the server says.
pub(crate) fn report(remaining: u64, reset: Option<Duration>) -> RateLimit {
    let whole = |reset: Duration| reset.as_secs().saturating_add(u64::from(reset.subsec_nanos() > 0));
    RateLimit::new(remaining).with_reset(reset.map(whole).map(Duration::from_secs))
}

/// Returns what a `RateLimit` header reports as [`rate_limit`] does, of the limits whose unit in the `RateLimit-Policy` header
/// is accepted. A limit without a unit is one of requests. A malformed policy header is ignored.
#[cfg(feature = "http")]
pub(super) fn rate_limit_in(
    accepts: impl Fn(&str) -> bool,
    value: &str,
    policy: &str,
    now: SystemTime,
) -> Option<RateLimit> {
    let units = units(policy).unwrap_or_default();
    let accepts = |name: &str| {
        let named = units.iter().rev().find(|(limit, _)| *limit == unquoted(name));
        accepts(named.map_or(REQUESTS, |(_, unit)| unit))
    };
    read(value, accepts, |seconds| until(Duration::from_secs(seconds), now))
}

#[cfg(feature = "http")]
pub(super) const REQUESTS: &str = "requests";

/// Returns the limits that have a unit, with their units, or `None` if the list is malformed.
#[cfg(feature = "http")]
fn units(policy: &str) -> Option<Vec<(&str, &str)>> {
    let mut units = Vec::new();
    for member in split(policy, ',')? {
        let mut parts = split(member, ';')?.into_iter().map(trim);
        let name = parts.next()?;
        if let Some(unit) = parts.filter_map(|parameter| parameter.strip_prefix("qu=")).next_back() {
            units.push((unquoted(name), unquoted(unit)));
        }
    }
    Some(units)
}

/// Returns the text of a string or of a token. Older drafts write the names of limits as tokens.
#[cfg(feature = "http")]
fn unquoted(text: &str) -> &str {
    text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text)
}

/// Reads the limits whose names are accepted, and returns the one with the fewest remaining requests. Of several with as many, it
/// is the one whose reset is last.
fn read(value: &str, accepts: impl Fn(&str) -> bool, until: impl Fn(u64) -> Option<Duration>) -> Option<RateLimit> {
    let mut fewest: Option<RateLimit> = None;
    let mut older = [None; 2];
    for member in split(value, ',')? {
        let mut parts = split(member, ';')?.into_iter().map(trim);
        let name = parts.next().filter(|name| !name.is_empty())?;
        let (mut remaining, mut reset) = (None, None);
        for parameter in parts {
            match parameter.split_once('=') {
                Some(("r", number)) => remaining = Some(whole(number)?),
                Some(("t", number)) => reset = Some(whole(number)?),
                _ => {}
            }
        }
        match (remaining, name.split_once('=')) {
            (Some(_), _) if !accepts(name) => {}
            (Some(remaining), _) => {
                let limit = report(remaining, reset.and_then(&until));
                // `None` is less than any wait.
                let rank = |limit: &RateLimit| (limit.remaining(), Reverse(limit.reset()));
                if fewest.is_none_or(|fewest| rank(&limit) < rank(&fewest)) {
                    fewest = Some(limit);
                }
            }
            (None, Some(("remaining", number))) => older[0] = Some(whole(number)?),
            (None, Some(("reset", number))) => older[1] = Some(whole(number)?),
            (None, _) => {}
        }
    }
    let [remaining, reset] = older;
    // The older form has no name, so it is a limit of requests.
    fewest.or_else(|| {
        let remaining = remaining.filter(|_| accepts(""))?;
        Some(report(remaining, reset.and_then(&until)))
    })
}

/// Returns what the headers `RateLimit-Remaining` and `RateLimit-Reset`, or those with `X-` before them, report, or `None` if
/// the number of remaining requests is malformed. A time that is malformed is not known.
///
/// The number of requests is rounded down, and the time up to seconds. The time is one of these, with or without a fraction:
///
/// | number | is |
/// |---|---|
/// | at most 1,000,000,000 | the seconds until the reset |
/// | at most 100,000,000,000 | the seconds since 1970, counted from `now` |
/// | above that | the milliseconds since 1970, counted from `now` |
///
/// A time since 1970 that is more than a year after `now` is not known, because one of the two is wrong.
///
/// ```
/// use retry_clients::http::rate_limit_remaining;
/// use retry_core::classify::http::RateLimit;
/// use std::time::{Duration, SystemTime};
///
/// let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000);
/// let expected = Some(RateLimit::new(50).with_reset(Some(Duration::from_secs(30))));
/// for reset in ["30", "29.7", "1800000030", "1800000030000"] {
///     assert_eq!(rate_limit_remaining("50", Some(reset), now), expected);
/// }
/// assert_eq!(rate_limit_remaining("many", None, now), None);
/// ```
pub fn rate_limit_remaining(remaining: &str, reset: Option<&str>, now: SystemTime) -> Option<RateLimit> {
    Some(report(requests(remaining)?, reset.and_then(|reset| until_reset(reset, now))))
}

/// Reads a number of remaining requests. Some servers send it with a fraction.
pub(super) fn requests(remaining: &str) -> Option<u64> {
    number(remaining).or_else(|| Some(remaining.split_once('.').and(seconds(remaining))?.as_secs()))
}

/// Returns the time until a reset, by the table of [`rate_limit_remaining`].
pub(super) fn until_reset(reset: &str, now: SystemTime) -> Option<Duration> {
    until(seconds(reset)?, now)
}

/// Returns the time until a reset whose number was read as seconds.
fn until(reset: Duration, now: SystemTime) -> Option<Duration> {
    /// The last number that is a wait: 31 years. As a point in time, it would be in 2001.
    const LONGEST_WAIT: Duration = Duration::from_secs(1_000_000_000);
    /// The last number of seconds since 1970. In milliseconds, it would be in 1973.
    const LAST_SECOND: Duration = Duration::from_secs(100_000_000_000);
    /// What is further away is not a time since 1970, or the clock is wrong.
    const YEAR: Duration = Duration::from_secs(366 * 86_400);

    if reset <= LONGEST_WAIT {
        return Some(reset);
    }
    let since_1970 = if reset <= LAST_SECOND {
        reset
    } else {
        // A fraction is rounded up.
        Duration::from_millis(reset.as_secs().saturating_add(u64::from(reset.subsec_nanos() > 0)))
    };
    let wait = since_1970.saturating_sub(now.duration_since(UNIX_EPOCH).unwrap_or_default());
    (wait <= YEAR).then_some(wait)
}

/// Splits a structured field (RFC 9651) at a separator outside of quotes. Returns `None` if a quote is not closed.
fn split(value: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start) = (Vec::new(), 0);
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, character) in value.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            _ if character == separator && !is_quoted => {
                parts.push(&value[start..at]);
                start = at + separator.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&value[start..]);
    (!is_quoted).then_some(parts)
}

fn trim(value: &str) -> &str {
    value.trim_matches([' ', '\t'])
}

/// Reads a whole number of a structured field, which has no white space around it.
fn whole(text: &str) -> Option<u64> {
    if text == trim(text) { number(text) } else { None }
}
