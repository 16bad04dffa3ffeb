//! Durations as text: the grammar of the macros, which is a whole number and its unit.

use std::fmt;
use std::time::Duration;

const NANOS_PER_SEC: u128 = 1_000_000_000;

/// The units, the longest first, in nanoseconds.
const UNITS: [(&str, u128); 6] = [
    ("h", 3600 * NANOS_PER_SEC),
    ("m", 60 * NANOS_PER_SEC),
    ("s", NANOS_PER_SEC),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// Parses a duration such as `1500ms`.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at_checked(text.find(|c: char| !c.is_ascii_digit())?)?;
    let (_, nanos) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let nanos = number.parse::<u128>().ok()?.checked_mul(*nanos)?;
    let subsec = u32::try_from(nanos % NANOS_PER_SEC).ok()?;
    Some(Duration::new(u64::try_from(nanos / NANOS_PER_SEC).ok()?, subsec))
}

/// Formats a duration exactly, in the longest unit of which it is a multiple.
pub(super) struct Written(pub(super) Duration);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0s");
        }
        for (name, unit) in UNITS {
            if nanos.is_multiple_of(unit) {
                return write!(f, "{}{name}", nanos / unit);
            }
        }
        Ok(())
    }
}
