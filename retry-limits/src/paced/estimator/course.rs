//! The rate at which to send.

use super::{CLOSED_BY, GoodputEstimator, Phase, Tuning, seconds};
use retry_core::time::Timestamp;

/// The rate of the ramp when nothing is known yet, in sends per second.
pub(super) const FIRST_RATE: f64 = 100.0;
/// The amount that the rate gains in each second beyond the estimate, besides a factor. It lets clients with a small
/// share catch up.
const CLIMB_BY: f64 = 1.3;
/// The highest ratio of the rate to the rate of accepted requests.
const MAX_LEAD: f64 = 2.0;
/// The part to which each further rejection cuts the rate then.
const CLOSED_CUT: f64 = 0.25;
/// The lowest rate of probes, in sends per second, unless the estimate is lower.
const PROBES: f64 = 4.0;
/// While everything is rejected, the probe rate is at most this number divided by the seconds since the first rejection.
const PROBES_IN_ALL: f64 = 4.0;

impl GoodputEstimator {
    /// Returns the rate at which to send now, in sends per second.
    #[inline]
    pub fn rate(&self, now: Timestamp) -> f64 {
        let rate = self.user_rates.capped(self.rate_of_phase(now));
        let Some(beyond) = self.rejected_in_a_row.checked_sub(CLOSED_BY) else { return rate };
        let cut = self.tuning.cut * self.estimate;
        let probes = PROBES.min(PROBES_IN_ALL / seconds(self.rejected_since, now));
        rate.min((cut * CLOSED_CUT.powf(f64::from(beyond) + 1.0)).max(cut.min(probes)))
    }

    #[inline]
    pub(super) fn rate_of_phase(&self, now: Timestamp) -> f64 {
        let elapsed = seconds(self.since, now);
        let accepted = self.recent.rate(now);
        let most = MAX_LEAD * accepted.max(1.0);
        match self.phase {
            Phase::Ramp => self.rate_of_ramp(elapsed, accepted),
            Phase::Search { from, doubles } => (from * (elapsed / doubles).exp2()).min(most.max(from)),
            Phase::Track => {
                let Tuning { cut, returns, climb, .. } = *self.tuning;
                let rate = if elapsed < returns {
                    self.estimate * (1.0 - (1.0 - cut) * (1.0 - elapsed / returns).powi(3))
                } else {
                    let beyond = elapsed - returns;
                    let climb = if now < self.careful_until { 1.0 } else { climb };
                    self.estimate * climb.powf(beyond) + CLIMB_BY * beyond
                };
                rate.min(most.max(self.estimate))
            }
        }
    }
    #[cold]
    fn rate_of_ramp(&self, elapsed: f64, accepted: f64) -> f64 {
        let (doubles, lead) = self.tuning.ramp;
        let first = self.user_rates.first;
        let mut most = (lead * accepted).max(first);
        if self.tuning.keeps {
            // Of a quarter that is over, the requests may not have been added yet.
            most = most.max(self.estimate).max(self.recent.latest());
        }
        self.noise.part() * (first * ((elapsed + self.aged) / doubles).exp2()).min(most)
    }
}
