//! What a limit does with requests that the server accepted.

use super::{Grant, Pace, Unit};
use retry_core::parts::SendSupply;
use retry_core::time::Timestamp;

impl<U: Unit> Pace<U> {
    /// Counts accepted requests.
    pub(in crate::paced) fn accept(&mut self, now: Timestamp, requests: u32) {
        self.learn(now, requests, u64::from(requests));
    }

    #[inline]
    fn learn(&mut self, now: Timestamp, sends: u32, requests: u64) {
        if self.estimator.is_closed() {
            self.reopen(now);
        }
        self.answers.accepted += requests;
        self.closings.accept(sends);
        self.hurry.accept(now, sends);
        self.estimator.accept(now, sends);
    }

    /// Records that the server accepts again, after it rejected everything for long.
    #[cold]
    fn reopen(&mut self, now: Timestamp) {
        if self.estimator.was_closed(now) {
            self.closings.add(self.estimator.rejected_since(), now, self.answers.accepted);
        }
    }

    /// Counts an accepted request of this weight, which used so much of the limit. What it used beyond its weight is owed by
    /// the next ones. In a hold, it makes no send available, and takes no probe. The answer to
    /// the hold's probe makes none available either, because that send did not come in at the rate.
    pub(in crate::paced) fn accept_weight(
        &mut self,
        now: Timestamp,
        probe: Option<Grant>,
        weight: U::Weight,
        used: Option<u32>,
    ) {
        let weight = U::get(weight).unwrap_or_default();
        let used = used.unwrap_or(weight);
        self.refill(now);
        if !self.hold.is_active() {
            self.sends = self.saved(self.sends + self.scale.sends(weight) - self.scale.sends(used));
        }
        if let Some(probe) = probe {
            self.accept_probe(now, probe);
        }
        let sends = self.scale.accepted(used);
        self.learn(now, sends, 1);
    }
}
