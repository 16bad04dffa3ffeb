//! The reports of a server about its rate limit.

use super::estimator::seconds;
use crate::policy::RateLimit;
use crate::time::Timestamp;

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

/// The most requests that remained, and the longest time until a reset in seconds.
#[derive(Clone, Copy, Debug)]
struct Most {
    remaining: u32,
    reset: u64,
}

impl Most {
    const NOTHING: Self = Self { remaining: 0, reset: 0 };

    fn or(self, other: Self) -> Self {
        Self { remaining: self.remaining.max(other.remaining), reset: self.reset.max(other.reset) }
    }
}

impl Reports {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { most: [Most::NOTHING; 2], period: now }
    }

    /// Records a report. Returns whether few requests remain.
    pub(super) fn few_remain(&mut self, now: Timestamp, limit: RateLimit) -> bool {
        if seconds(self.period, now) > PERIOD {
            self.most = [Most::NOTHING, self.most[0]];
            self.period = now;
        }
        let reset = limit.reset().map(|reset| reset.as_secs());
        self.most[0] = self.most[0].or(Most { remaining: limit.remaining(), reset: reset.unwrap_or(0) });
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
    // Longer times are rounded, which does no harm.
    #[expect(clippy::cast_precision_loss, reason = "see above")]
    let part = |reset: u64| reset.saturating_sub(1) as f64 / longest.max(1) as f64;
    reset.map_or(1.0, part)
}
