//! A reading of a clock that was not converted to a timestamp yet.

use super::Timestamp;
use std::time::{Duration, Instant};

/// A reading of a clock.
///
/// To convert an [`Instant`] to a [`Timestamp`], the standard library subtracts two instants, which takes as long as reading the clock
/// twice. An operation that succeeds at its first attempt needs the difference of two readings, or none.
#[expect(unnameable_types, reason = "only clocks of this library have instants")]
#[derive(Clone, Copy, Debug)]
pub enum Reading {
    /// The reading of any clock.
    At(Timestamp),
    /// The reading of a clock that has instants.
    Instant(Instant),
}

impl Reading {
    /// Returns the point in time.
    #[inline]
    pub(crate) fn timestamp(self) -> Timestamp {
        match self {
            Self::At(timestamp) => timestamp,
            Self::Instant(instant) => Timestamp::from(instant),
        }
    }

    /// Returns this reading as an instant, if the clock has instants.
    #[cfg(feature = "metrics")]
    #[inline]
    pub(crate) const fn instant(self) -> Option<Instant> {
        if let Self::Instant(instant) = self { Some(instant) } else { None }
    }

    /// Returns the duration from an earlier reading to this one, or zero if `earlier` is in fact later.
    #[inline]
    pub(crate) fn saturating_since(self, earlier: Self) -> Duration {
        match (self, earlier) {
            (Self::Instant(instant), Self::Instant(earlier)) => instant.saturating_duration_since(earlier),
            (Self::At(timestamp), Self::At(earlier)) => timestamp.saturating_since(earlier),
            _ => self.since_of_another_form(earlier),
        }
    }

    /// Returns the difference of readings of two clocks.
    #[cold]
    fn since_of_another_form(self, earlier: Self) -> Duration {
        self.timestamp().saturating_since(earlier.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::{Reading, Timestamp};
    use std::time::{Duration, Instant};

    #[test]
    fn readings_are_as_far_apart_as_their_timestamps() {
        let (first, second) = (Instant::now(), Instant::now() + Duration::from_nanos(1_500_000_001));
        let forms = |instant: Instant| [Reading::Instant(instant), Reading::At(Timestamp::from(instant))];
        let apart = second.duration_since(first);
        for earlier in forms(first) {
            for later in forms(second) {
                assert_eq!(later.saturating_since(earlier), apart, "{earlier:?} {later:?}");
                assert_eq!(earlier.saturating_since(later), Duration::ZERO, "{earlier:?} {later:?}");
            }
            assert_eq!(earlier.timestamp(), Timestamp::from(first));
        }
    }
}
