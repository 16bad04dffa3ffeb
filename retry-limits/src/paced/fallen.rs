//! A limit that has fallen, and may rise again soon.

use retry_core::time::Timestamp;
use std::time::Duration;

/// An estimate below this part of both estimates before it is a fall. A single earlier estimate may include a burst. A client that
/// joins others falls, too, and must not take more than its share: with 0.6, Jain's index of 100 clients on 2,000 per second is 0.917,
/// with 0.5 it is 0.927.
const FALLS: f64 = 0.5;
/// The part of the estimate before the fall from which on the limit has risen again. A measurement in the rise has some of the low time.
const RISES: f64 = 0.75;
/// The time after a fall in which the limit is expected to rise. With 10 s, the limit rises after it, if it changes every 10 s.
const REMEMBERED: Duration = Duration::from_secs(15);
/// The lowest estimate, in sends per second, from which a limit falls. The estimates of smaller clients vary by as much without a
/// change of the limit.
const LEAST: f64 = 30.0;

/// The estimate before a fall.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fallen {
    /// The latest estimates, in sends per second. The last one comes first.
    latest: [f64; 2],
    /// The estimate from which the limit fell, or 0.
    from: f64,
    at: Timestamp,
}

impl Fallen {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { latest: [0.0; 2], from: 0.0, at: now }
    }

    /// Records the estimate after a cut. Returns whether the limit fell in the last seconds, and has not risen again.
    pub(super) fn is_fallen(&mut self, now: Timestamp, estimate: f64) -> bool {
        let [last, before] = self.latest;
        if estimate >= RISES * self.from || now.saturating_since(self.at) > REMEMBERED {
            self.from = 0.0;
        }
        let high = last.min(before);
        if estimate < FALLS * high && high >= LEAST {
            (self.from, self.at) = (high.max(self.from), now);
        }
        // A cut without a measurement leaves the estimate as it was.
        #[expect(clippy::float_cmp, reason = "it is the same number")]
        if estimate != last {
            self.latest = [estimate, last];
        }
        self.from > 0.0
    }

    /// Changes the unit: multiplies all estimates by this factor.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.latest = self.latest.map(|estimate| estimate * factor);
        self.from *= factor;
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.at = self.at.min(now);
    }
}

#[cfg(test)]
mod tests {
    use super::Fallen;
    use retry_core::time::Timestamp;
    use std::time::Duration;

    const fn at(secs: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1_000 + secs))
    }

    /// Returns what follows from these estimates, one a second.
    fn after<const N: usize>(estimates: [f64; N]) -> [bool; N] {
        let (mut fallen, mut now) = (Fallen::new(at(0)), 0);
        estimates.map(|estimate| {
            now += 1;
            fallen.is_fallen(at(now), estimate)
        })
    }

    #[test]
    fn a_limit_has_fallen_from_two_estimates_until_it_rises() {
        assert_eq!(after([100.0, 90.0, 46.0, 90.0]), [false; 4], "it hardly fell");
        assert_eq!(after([100.0, 90.0, 44.0, 60.0, 68.0]), [false, false, true, true, false]);
        assert_eq!(after([100.0, 90.0, 10.0, 14.0, 10.0, 80.0, 81.0, 10.0]).map(u8::from), [0, 0, 1, 1, 1, 0, 0, 1]);
        assert_eq!(after([200.0, 100.0, 99.0]), [false; 3], "the first one had a burst");
        assert_eq!(after([200.0, 200.0, 100.0, 99.0]), [false; 4], "and no other measurement");
        assert_eq!(after([29.0, 28.0, 3.0]), [false; 3], "it was low");
    }

    #[test]
    fn a_fall_is_forgotten_after_a_while() {
        let mut fallen = Fallen::new(at(0));
        let mut is_fallen = |secs, estimate| fallen.is_fallen(at(secs), estimate);
        assert!(!is_fallen(0, 100.0) && !is_fallen(50, 99.0) && is_fallen(60, 10.0));
        assert!(is_fallen(75, 9.0) && !is_fallen(76, 10.0));
    }

    #[test]
    fn estimates_change_with_the_unit_and_times_with_the_clock() {
        let mut fallen = Fallen::new(at(0));
        assert!(!fallen.is_fallen(at(0), 100.0) && !fallen.is_fallen(at(1), 99.0) && fallen.is_fallen(at(90), 10.0));
        fallen.rescale(0.1);
        fallen.reanchor(at(2));
        assert!(fallen.is_fallen(at(16), 7.0) && !fallen.is_fallen(at(17), 7.5));
        assert!(!fallen.is_fallen(at(18), 7.0));
    }
}
