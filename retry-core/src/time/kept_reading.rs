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

    /// Returns this reading as an instant, if the clock has instants.
    #[cfg(feature = "metrics")]
    #[inline]
    pub(crate) const fn instant(self) -> Option<Instant> {
        if let Self::Instant(instant) = self { Some(instant) } else { None }
    }

    /// Returns the time until a later reading of the same clock, or zero if the clock was set back.
    #[inline]
    pub(crate) fn until(self, now: Reading) -> Duration {
        match (self, now) {
            (Self::Instant(instant), Reading::Instant(now)) => now.saturating_duration_since(instant),
            (_, now) => self.until_timestamp(now.timestamp()),
        }
    }

    #[cold]
    fn until_timestamp(self, now: Timestamp) -> Duration {
        let started = match self {
            Self::Instant(instant) => wrapping_nanos(Timestamp::from(instant)),
            Self::At(nanos) => nanos,
        };
        let elapsed = wrapping_nanos(now).wrapping_sub(started);
        i64::try_from(elapsed).map_or(Duration::ZERO, |_| Duration::from_nanos(elapsed))
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
                assert_eq!(
                    KeptReading::new(earlier).until(later),
                    second.duration_since(first),
                    "{earlier:?} {later:?}"
                );
                assert_eq!(KeptReading::new(later).until(earlier), Duration::ZERO, "{earlier:?} {later:?}");
            }
        }
        // The nanoseconds of the later one have wrapped.
        let (century, ages) = (Duration::from_secs(3_000_000_000), Duration::from_secs(18_000_000_000));
        let (earlier, later) = (Timestamp::from_origin(ages), Timestamp::from_origin(ages + century));
        assert_eq!(KeptReading::new(Reading::At(earlier)).until(Reading::At(later)), century);
    }
}
