//! The rate of a limit.

use super::{Pace, Unit};
use retry_core::parts::time_for;
use retry_core::time::Timestamp;
use std::time::Duration;

impl<U: Unit> Pace<U> {
    /// Returns whether the rate comes from the estimator, and the estimator knows of no limit.
    pub(in crate::paced) fn is_unlimited(&self) -> bool {
        self.imposed.is_none() && self.estimator.estimate().is_none()
    }

    /// Returns the rate at the last question or throttling, in sends per second.
    pub(in crate::paced) const fn rate(&self) -> f64 {
        self.rate
    }

    pub(super) fn rate_at(&self, now: Timestamp) -> f64 {
        let user_rates = self.estimator.user_rates();
        match (self.imposed, self.hurry.factor()) {
            (Some(rate), _) => user_rates.capped(rate),
            (None, Some(factor)) if self.is_unlimited() => {
                user_rates.capped(factor * user_rates.first()).max(self.estimator.rate(now))
            }
            (None, _) if self.closings.is_none() => self.estimator.rate(now),
            (None, _) => self.rate_after_closings(now),
        }
    }

    #[cold]
    fn rate_after_closings(&self, now: Timestamp) -> f64 {
        let mut rate = self.estimator.rate(now);
        if self.estimator.is_closed() {
            let probes = self.closings.probes(self.estimator.rejected_since(), now);
            rate = rate.max(self.estimator.user_rates().capped(probes));
        }
        rate.min(self.closings.cap(now))
    }

    /// Returns the time in which this many sends become available at the highest rate that is likely, or zero if that is not known:
    /// while a limit is searched. The wait that a server asks for is not included, because a probe can end it.
    pub(in crate::paced) fn wait_at_best_for(&self, sends: f64) -> Duration {
        let user_rates = self.estimator.user_rates();
        let best = match (self.imposed, self.estimator.tracked()) {
            (Some(_), _) => self.rate,
            (None, Some(estimate)) => user_rates.capped(self.rate.max(estimate.min(self.closings.cap(self.filled)))),
            (None, None) => user_rates.capped(f64::INFINITY),
        };
        let missing = sends - self.sends;
        if missing <= 0.0 || best.is_infinite() { Duration::ZERO } else { time_for(missing, best) }
    }
}
