//! Times in arguments.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::time::Duration;

/// The error of an argument that is not a time, or not one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidTime {
    /// What the time is for.
    name: &'static str,
    value: String,
    expected: &'static str,
}

impl Display for InvalidTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "invalid {} {:?}: expected {}", self.name, self.value, self.expected)
    }
}

impl Error for InvalidTime {}

/// A unit, and its length in milliseconds.
type Unit = (&'static str, u64);

const SECOND: Unit = ("s", 1_000);
const MINUTE: Unit = ("m", 60_000);
const HOUR: Unit = ("h", 3_600_000);
const DAY: Unit = ("d", 86_400_000);

/// Reads the time for which retries are off. A switch that is off for years was forgotten, so the longest time is 30 days.
pub(crate) fn off_for(text: &str) -> Result<Duration, InvalidTime> {
    let expected = "a whole number and s, m, h or d, as in 10m, up to 30d";
    read(text, &[SECOND, MINUTE, HOUR, DAY], 30 * DAY.1).ok_or(InvalidTime {
        name: "time",
        value: text.to_owned(),
        expected,
    })
}

/// Reads the time that the command waits for the store.
pub(crate) fn timeout(text: &str) -> Result<Duration, InvalidTime> {
    let expected = "a whole number and ms, s or m, as in 30s, up to 10m";
    read(text, &[("ms", 1), SECOND, MINUTE], 10 * MINUTE.1).ok_or(InvalidTime {
        name: "timeout",
        value: text.to_owned(),
        expected,
    })
}

/// Reads a time from one millisecond up to the longest one.
fn read(text: &str, units: &[Unit], longest: u64) -> Option<Duration> {
    let milliseconds = units.iter().find_map(|(unit, length)| {
        let number = text.strip_suffix(unit)?.parse::<u64>().ok()?;
        number.checked_mul(*length)
    });
    milliseconds.filter(|time| (1..=longest).contains(time)).map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_a_whole_number_and_a_unit() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("2h", 7_200), ("30d", 2_592_000)] {
            assert_eq!(off_for(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "s",
            "10",
            "0s",
            "-1s",
            "1.5h",
            "31d",
            "10 m",
            "10é",
            "5ms",
            "99999999999999999999d",
            "18446744073709551615d",
        ] {
            let message = off_for(text).unwrap_err().to_string();
            let expected = "expected a whole number and s, m, h or d, as in 10m, up to 30d";
            assert_eq!(message, format!("invalid time {text:?}: {expected}"));
        }
    }

    #[test]
    fn a_timeout_lasts_from_a_millisecond_to_ten_minutes() {
        for (text, milliseconds) in [("1ms", 1), ("500ms", 500), ("30s", 30_000), ("10m", 600_000)] {
            assert_eq!(timeout(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "ms", "0ms", "0s", "10", "601s", "11m", "1h", "1.5s"] {
            let message = timeout(text).unwrap_err().to_string();
            let expected = "expected a whole number and ms, s or m, as in 30s, up to 10m";
            assert_eq!(message, format!("invalid timeout {text:?}: {expected}"));
        }
    }
}
