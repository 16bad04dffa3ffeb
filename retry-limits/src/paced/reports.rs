//! The reports of a server about its rate limit.

use super::estimator::seconds;
use retry_core::classify::http::RateLimit;
use retry_core::time::Timestamp;

/// Few requests remain if their number is below this part of the highest recent number.
const FEW: f64 = 1.0 / 3.0;
/// The length of a period, in seconds. The highest number of this and of the last period is used.
const PERIOD: f64 = 10.0;

/// The reports of a server, compared with its other reports. All clients that share a limit see about the same reports,
/// so they slow down together, and none of them gets a larger share because it has a longer memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reports {
    /// In this period, and in the one before.
    most: [Most; 2],
    period: Timestamp,
}

/// The most requests that remained, and the longest time until a reset in seconds. Both are zero without a report.
#[derive(Clone, Copy, Debug, Default)]
struct Most {
    remaining: u32,
    reset: u64,
}

impl Most {
    fn or(self, other: Self) -> Self {
        Self { remaining: self.remaining.max(other.remaining), reset: self.reset.max(other.reset) }
    }
}

impl Reports {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { most: Default::default(), period: now }
    }

    /// Records a report. Returns whether few requests remain.
    pub(super) fn few_remain(&mut self, now: Timestamp, limit: RateLimit) -> bool {
        if seconds(self.period, now) > PERIOD {
            self.most = [Most::default(), self.most[0]];
            self.period = now;
        }
        let reset = limit.reset().map(|reset| reset.as_secs());
        self.most[0] = self.most[0].or(Most { remaining: limit.remaining(), reset: reset.unwrap_or_default() });
        let most = self.most[0].or(self.most[1]);
        f64::from(limit.remaining()) < FEW * f64::from(most.remaining) * part_left(reset, most.reset)
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.period = self.period.min(now);
    }
}

/// Returns the part of the time that is left until the reset, or 1 if it is not known. Towards the end of a window it is
/// normal that few requests remain. Servers round the time up, so the last second is treated as over.
fn part_left(reset: Option<u64>, longest: u64) -> f64 {
    // Longer times are rounded, which does no harm. If both are zero, the part is not a number, and nothing is below it.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let part = |reset: u64| reset.saturating_sub(1) as f64 / longest as f64;
    reset.map_or(1.0, part)
}

#[cfg(test)]
mod tests {
    use super::{RateLimit, Reports, Timestamp};
    use std::time::Duration;

    fn at(nanos: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_secs(1000) + Duration::from_nanos(nanos))
    }

    #[test]
    fn a_period_lasts_for_ten_seconds_and_its_reports_count_until_the_end_of_the_next_one() {
        const TEN: u64 = 10_000_000_000;
        for (next, last, few) in [(TEN, 2 * TEN, true), (TEN, 2 * TEN + 2, true), (TEN + 1, 2 * TEN + 2, false)] {
            let mut reports = Reports::new(at(0));
            assert!(!reports.few_remain(at(0), RateLimit::new(900)));
            assert!(reports.few_remain(at(next), RateLimit::new(299)));
            assert_eq!(reports.few_remain(at(last), RateLimit::new(298)), few, "{next}, {last}");
        }
    }

    #[test]
    fn periods_end_after_the_clock_was_set_back() {
        let mut reports = Reports::new(at(1 << 40));
        assert!(!reports.few_remain(at(1 << 40), RateLimit::new(900)));
        reports.reanchor(at(0));
        assert!(reports.few_remain(at(0), RateLimit::new(100)));
        assert!(reports.few_remain(at(11_000_000_000), RateLimit::new(100)));
        assert!(!reports.few_remain(at(22_000_000_000), RateLimit::new(100)));
        // A clock that is late does not prolong a period.
        let mut reports = Reports::new(at(0));
        reports.reanchor(at(9_000_000_000));
        assert!(!reports.few_remain(at(9_000_000_000), RateLimit::new(900)));
        assert!(reports.few_remain(at(10_500_000_000), RateLimit::new(100)));
        assert!(!reports.few_remain(at(21_000_000_000), RateLimit::new(100)));
    }

    #[test]
    fn a_limit_that_is_reset_within_a_second_is_as_good_as_reset() {
        for reset in [0, 1] {
            let mut reports = Reports::new(at(0));
            let limit = RateLimit::new(0).with_reset(Some(Duration::from_secs(reset)));
            assert!(!reports.few_remain(at(0), limit), "{reset}");
        }
    }
}
