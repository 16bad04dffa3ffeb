//! A limit while the server asks for a wait.

use super::{Grant, Pace, Unit};
use retry_core::parts::SendSupply;
use retry_core::time::Timestamp;
use std::time::Duration;

impl<U: Unit> Pace<U> {
    /// Holds back all sends for this time from now on, except probes, if the server probably needs the wait. Returns
    /// whether it does so.
    pub(in crate::paced) fn hold(&mut self, now: Timestamp, wait: Duration) -> bool {
        // A hold that is over is noticed before the next one begins.
        self.refill(now);
        let is_believed = self.hold.is_believed(self.estimator.is_closed());
        if is_believed {
            let begins = self.hold.begin(now, wait, self.probe_interval());
            // If the hold is prolonged, its probe stays available.
            if begins {
                self.sends = 0.0;
            }
            // The time of the hold is not measured, and the rate does not grow in it.
            self.estimator.resume(self.hold.until());
        }
        is_believed
    }

    /// Returns the shortest time between two sends at the highest rate that the user allows.
    fn probe_interval(&self) -> Duration {
        self.estimator.user_rates().time_for(self.one())
    }

    /// Passes the time of a hold, in which only probes become available.
    #[cold]
    pub(super) fn pass_in_hold(&mut self, now: Timestamp) {
        // If the last probe was given back, it is this one, so that there are not two probes.
        if self.hold.pass(now) {
            self.sends = self.sends.max(self.one());
            self.hold.probe(now, self.probe_interval());
        }
        if let Some((begun, until)) = self.hold.closing() {
            self.closings.add(begun, until, self.answers.accepted);
        }
        self.filled = self.filled.max(self.hold.until().min(now));
    }

    /// Records that this probe was accepted. If its hold is on, that ends it.
    #[cold]
    pub(in crate::paced) fn accept_probe(&mut self, now: Timestamp, probe: Grant) {
        if self.hold.accept(now, probe) {
            self.estimator.resume(now);
            self.refill(now);
        }
    }

    /// Records that a probe was taken. Of light requests, only one is the probe.
    #[cold]
    pub(super) fn take_in_hold(&mut self) {
        self.hold.take();
        self.sends = 0.0;
    }

    /// Gives back a send that was kept, in a hold. If it was kept since before the hold, no operation may send it now.
    #[cold]
    pub(super) fn give_back_in_hold(&mut self) {
        if self.hold.release() {
            self.sends = self.one();
        }
    }

    /// Returns the time until this many sends are available, of which the first one can be a probe. After the hold, it is
    /// `after`.
    #[cold]
    pub(super) fn wait_in_hold(&self, sends: f64, after: Duration) -> Duration {
        let held = self.hold.until().saturating_since(self.filled).saturating_add(after);
        if sends > self.one() { held } else { held.min(self.hold.next_probe().saturating_since(self.filled)) }
    }
}
