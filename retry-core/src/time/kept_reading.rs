//! A reading of a clock that is kept until a later one.

use super::{Reading, Timestamp};
use std::time::{Duration, Instant};

/// A reading that an operation keeps until its end, in as many bytes as an [`Instant`].
#[derive(Clone, Copy, Debug)]
pub(crate) enum KeptReading {
    /// The reading of a clock that has instants.
    Instant(Instant),
    /// The reading of any other clock, in nanoseconds since the origin. They wrap after 584 years, so that a difference of up to
    /// 292 years is exact.
    At(u64),
}

impl KeptReading {
    /// Keeps a reading.
    #[inline]
    pub(crate) fn new(reading: Reading) -> Self {
        match reading {
            Reading::Instant(instant) => Self::Instant(instant),
            Reading::At(timestamp) => Self::At(wrapping_nanos(timestamp)),
        }
    }

    /// Returns the duration from this reading to a later one, or zero if `later` is in fact earlier.
    #[inline]
    pub(crate) fn until(self, later: Reading) -> Duration {
        match (self, later) {
            (Self::Instant(instant), Reading::Instant(later)) => later.saturating_duration_since(instant),
            _ => self.until_other_form(later),
        }
    }

    fn until_other_form(self, later: Reading) -> Duration {
        let nanos = match self {
            Self::Instant(instant) => wrapping_nanos(Timestamp::from(instant)),
            Self::At(nanos) => nanos,
        };
        let apart = wrapping_nanos(later.timestamp()).wrapping_sub(nanos);
        i64::try_from(apart).map_or(Duration::ZERO, |_| Duration::from_nanos(apart))
    }
}

/// Returns the nanoseconds since the origin, modulo 2^64.
#[expect(clippy::cast_possible_truncation, reason = "it wraps")]
const fn wrapping_nanos(timestamp: Timestamp) -> u64 {
    timestamp.since_origin().as_nanos() as u64
}

#[cfg(test)]
mod tests {
    use super::{KeptReading, Reading, Timestamp};
    use std::time::{Duration, Instant};

    #[test]
    fn a_kept_reading_is_as_small_as_an_instant_and_as_far_from_a_later_reading() {
        assert_eq!(size_of::<Option<KeptReading>>(), size_of::<Instant>());
        let (first, second) = (Instant::now(), Instant::now() + Duration::from_nanos(1_500_000_001));
        let forms = |instant: Instant| [Reading::Instant(instant), Reading::At(Timestamp::from(instant))];
        for earlier in forms(first) {
            for later in forms(second) {
                assert_eq!(KeptReading::new(earlier).until(later), second.duration_since(first), "{earlier:?} {later:?}");
                assert_eq!(KeptReading::new(later).until(earlier), Duration::ZERO, "{earlier:?} {later:?}");
            }
        }
        // The nanoseconds of the later one have wrapped.
        let (century, ages) = (Duration::from_secs(3_000_000_000), Duration::from_secs(18_000_000_000));
        let (earlier, later) = (Timestamp::from_origin(ages), Timestamp::from_origin(ages + century));
        assert_eq!(KeptReading::new(Reading::At(earlier)).until(Reading::At(later)), century);
    }
}
