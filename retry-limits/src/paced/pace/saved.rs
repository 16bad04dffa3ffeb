//! The unused sends that are saved up.

use super::{Pace, Unit};

/// Sends that were not used within this time, in seconds, are lost. It covers the resolution of timers and threads that wake
/// up late. Without it, every delay of a waiter would be lost.
const UNUSED: f64 = 0.05;
/// The same with a limit that the user sets, because the server may allow no burst. It covers the resolution of timers
/// only.
const LATE: f64 = 0.002;
/// The part of the user's burst that is kept back, for messages that arrive early and clocks that differ, but at least one send.
const KEPT_BACK: f64 = 0.03;

impl<U: Unit> Pace<U> {
    /// Returns how many unused sends are saved up.
    #[inline]
    pub(super) fn saved(&self, sends: f64) -> f64 {
        if self.estimator.user_rates().has_limit() {
            self.barely_saved(sends)
        } else {
            sends.min((UNUSED * self.rate).max(self.one()))
        }
    }

    /// Returns the sends of one request, whichever it is. A server that accepts the heaviest one accepts as many light ones at
    /// once.
    #[inline]
    pub(super) fn one(&self) -> f64 {
        U::sum(1, || self.scale.most())
    }

    /// If a waiter is late by the resolution of a timer, no send is lost. A client that did not wait has one send, or the burst of
    /// the limit.
    #[cold]
    fn barely_saved(&self, sends: f64) -> f64 {
        let (late, one) = (LATE * self.rate, self.one());
        let burst = self.burst();
        if burst > one + late {
            return sends.min(burst);
        }
        if sends <= one + late { sends } else { late.max(one) }
    }

    /// Returns the sends that may be made at once, of the burst that the user sets, or 0 if a lower limit was learned.
    fn burst(&self) -> f64 {
        let user_rates = self.estimator.user_rates();
        if user_rates.burst() <= 1 || !self.is_unlimited() {
            return 0.0;
        }
        let burst = self.scale.sends(user_rates.burst());
        burst - (KEPT_BACK * burst).max(self.scale.sends(1))
    }

    /// Makes the whole burst available, because nothing was sent yet.
    pub(in crate::paced) fn fill(&mut self) {
        self.sends = self.burst().max(self.sends);
    }
}
