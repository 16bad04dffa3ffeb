//! The attempts of an operation that were throttled, and the time after which it gives up.

use retry_core::time::Timestamp;
use std::time::Duration;

/// The default of the time after which a throttled operation gives up. It bridges a few minutes in which a server rejects
/// everything, and a few windows of a minute whose limit other clients use up.
pub(crate) const MAX_THROTTLED_TIME: Duration = Duration::from_secs(300);

/// Returns a point in time in quarters of a second since the origin of the clock, which wrap.
#[expect(clippy::cast_possible_truncation, reason = "it wraps")]
const fn quarter(at: Timestamp) -> u32 {
    (at.since_origin().as_millis() / 250) as u32
}

/// The attempts of an operation that were throttled: their number, and since when.
///
/// An operation whose limiter is replaced while it runs takes them along, from [`PacedPlace::throttled`](crate::PacedPlace::throttled)
/// to [`PacedLimiter::begin_after`](crate::PacedLimiter::begin_after). The default is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Throttled {
    attempts: u32,
    /// The time of the first one, in quarters of a second since the origin of the clock. It wraps after 34 years.
    since: u32,
    /// The longest wait that the server asked for, in whole seconds, rounded up. It saturates at 18 hours.
    longest_wait: u16,
    /// The number of requests of all operations that were accepted up to the last one. It wraps.
    accepted_before: u16,
}

impl Throttled {
    pub(crate) const fn new() -> Self {
        Self { attempts: 0, since: 0, longest_wait: 0, accepted_before: 0 }
    }

    /// Returns their number.
    pub const fn attempts(self) -> u32 {
        self.attempts
    }

    /// Records the number of requests of all operations that were accepted up to an attempt that was throttled. Returns whether any
    /// was since the one before.
    #[expect(clippy::cast_possible_truncation, reason = "it wraps")]
    pub(crate) fn saw_others(&mut self, accepted: u64) -> bool {
        let before = std::mem::replace(&mut self.accepted_before, accepted as u16);
        self.attempts > 0 && before != self.accepted_before
    }

    /// Counts another attempt. Returns whether the time for throttled attempts was over.
    pub(crate) fn count(&mut self, now: Timestamp, wait: Duration, most: Duration) -> bool {
        if self.attempts == 0 {
            self.since = quarter(now);
        }
        let most = most.saturating_add(Duration::from_secs(self.longest_wait.into()));
        let whole = wait.as_secs().saturating_add((wait.subsec_nanos() > 0).into());
        self.longest_wait = self.longest_wait.max(u16::try_from(whole).unwrap_or(u16::MAX));
        self.attempts = self.attempts.saturating_add(1);
        // A clock that was set back is treated as one that stands still.
        let quarters = quarter(now).wrapping_sub(self.since);
        let elapsed = if quarters > u32::MAX / 2 { 0 } else { quarters };
        Duration::from_millis(u64::from(elapsed) * 250) >= most
    }
}

#[cfg(test)]
mod tests {
    use super::Throttled;
    use retry_core::time::Timestamp;
    use std::time::Duration;

    const fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(1_000_000 + millis))
    }

    /// Returns whether the time was over at the last attempt, of one at 0 with this wait and one at this time.
    fn is_over(wait: Duration, millis: u64, most: Duration) -> bool {
        let mut throttled = Throttled::default();
        assert_eq!(throttled.count(at(0), wait, most), most.is_zero());
        let is_over = throttled.count(at(millis), Duration::ZERO, most);
        assert_eq!(throttled.attempts(), 2);
        is_over
    }

    #[test]
    fn the_time_is_over_after_the_longest_time_and_the_longest_wait_in_whole_seconds() {
        let most = Duration::from_secs(100);
        for (wait, seconds) in [
            (Duration::ZERO, 100),
            (Duration::from_nanos(1), 101),
            (Duration::from_millis(999), 101),
            (Duration::from_secs(1), 101),
            (Duration::from_millis(1001), 102),
            (Duration::from_secs(65_535), 65_635),
            (Duration::from_secs(65_536), 65_635),
            (Duration::MAX, 65_635),
        ] {
            assert!(!is_over(wait, 1000 * seconds - 250, most), "{wait:?}");
            assert!(is_over(wait, 1000 * seconds, most), "{wait:?}");
        }
    }

    #[test]
    fn a_clock_that_was_set_back_stands_still() {
        let mut throttled = Throttled::default();
        let quarter = Duration::from_millis(250);
        assert!(!throttled.count(at(10_000), Duration::ZERO, quarter));
        assert!(!throttled.count(at(1_000), Duration::ZERO, quarter));
        assert!(throttled.count(at(1_000), Duration::ZERO, Duration::ZERO));
    }

    #[test]
    fn the_time_can_be_as_long_as_half_of_the_quarters_that_there_are() {
        let longest = 250 * u64::from(u32::MAX / 2);
        assert!(is_over(Duration::ZERO, longest, Duration::from_millis(longest)));
        assert!(!is_over(Duration::ZERO, longest + 250, Duration::from_millis(250)));
    }
}
