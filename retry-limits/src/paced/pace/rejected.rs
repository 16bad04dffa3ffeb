//! What a rejection is evidence of, and what a limit does then.

use super::{Doubt, Hurry, Pace, Unit};
use crate::number::next_short;
use crate::throttled::Throttled;
use crate::waits::LONGEST_OWN_WAIT;
use retry_core::parts::SendSupply;
use retry_core::time::Timestamp;
use std::num::NonZeroU16;
use std::time::Duration;

/// The number of earlier rejections of an operation with a limit of its own from which on it is known that there are such
/// operations. With 1, a client of 5 sends per second takes one of its neighbours' rejections in 150 for it.
const OWN_KNOWN: u32 = 3;
/// The time for which that is known. It is the longest wait of such an operation.
const OWN_FOR: Duration = LONGEST_OWN_WAIT;
/// The probability that the limit of all operations rejects one of them so often in a row, below which it has a limit of its own.
/// With 0.01, one operation in 400 takes noise of 5 % for it, and short jobs end with its wait.
const OWN_RARE: f64 = 0.001;
/// The number of rejections in a row from which on a client that sends less than its rate takes them for a limit. If 5 % are rejected
/// at random, one rejection in 400 is the third in a row.
const CERTAIN_ROW: u32 = 3;

impl<U: Unit> Pace<U> {
    /// Returns whether a rejection of an operation is probably not one by the limit of all operations: others were accepted since
    /// its last one, and if the limit rejected operations at random, so many in a row would be rare.
    pub(in crate::paced) fn is_own(&mut self, now: Timestamp, throttled: &mut Throttled) -> bool {
        let share = self.answered.reject(now, self.answers.accepted);
        let is_rare = share.powf(f64::from(throttled.attempts()) + 1.0) < OWN_RARE;
        let is_own = throttled.saw_others(self.answers.accepted) && is_rare && !self.estimator.is_closed();
        if is_own && throttled.attempts() >= OWN_KNOWN {
            self.own_at = Some(now);
        }
        is_own
    }

    /// Forgets that there are operations with a limit of their own. One that is rejected again shows it again.
    pub(in crate::paced) fn refute_own(&mut self) {
        self.own_at = None;
    }

    /// Returns why a rejection may have nothing to do with the limit.
    fn doubt(&self, now: Timestamp) -> Doubt {
        if self.own_at.is_some_and(|at| now.saturating_since(at) <= OWN_FOR) {
            Doubt::OwnLimits
        } else if !self.is_limited(now) && self.answered.in_a_row() < CERTAIN_ROW && self.estimator.is_small(now) {
            Doubt::Unlimited
        } else {
            Doubt::None
        }
    }

    /// Counts a rejection, unless the request was sent before the last cut was known. `holds` says whether the wait with it is
    /// long enough to hold back all sends. Returns whether it is noise for a client that the rate does not limit.
    pub(in crate::paced) fn reject(&mut self, now: Timestamp, sent_after: Option<NonZeroU16>, holds: bool) -> bool {
        let doubt = self.doubt(now);
        self.hurry = Hurry::Never;
        if sent_after == Some(self.rejections) {
            self.refill(now);
            self.answers.rejected += 1;
            // The server's burst is used up. In a hold, a send is a probe.
            if self.estimator.user_rates().burst() > 1 && !self.hold.is_active() {
                self.sends = 0.0;
            }
            let is_cut = self.cut(now, holds, doubt);
            if is_cut
                && let Some(estimate) = self.estimator.tracked()
                && self.fallen.is_fallen(now, estimate)
            {
                self.estimator.search_again(now);
            }
            if self.hold.is_on(now) {
                self.estimator.resume(self.hold.until());
            }
            self.rate = self.rate_at(now);
            // An external rate has not changed, so the rejections of other requests at this rate are counted, too.
            if is_cut && self.imposed.is_none() {
                self.rejections = next_short(self.rejections);
            }
            return !is_cut && doubt == Doubt::Unlimited;
        }
        false
    }

    /// Reports a rejection to the estimator. A rejection that holds back all sends is certainly evidence of a limit. So is the
    /// first one with an external rate, because there was no ramp, and one in a ramp that is shut out. With a limit that the user sets,
    /// the space between sends grows first.
    fn cut(&mut self, now: Timestamp, holds: bool, doubt: Doubt) -> bool {
        let is_shut_out = !self.estimator.user_rates().has_limit() && self.answered.is_shut_out();
        let is_first = self.estimator.estimate().is_none();
        let is_certain = holds || is_first && (self.imposed.is_some() || is_shut_out);
        // A client that sends less than its rate learns nothing from a few rejections.
        let learns = doubt == Doubt::None && self.is_limited(now);
        let is_uneven = is_first && learns && !self.estimator.user_rates().has_limit() && self.answered.is_uneven();
        if is_certain {
            self.estimator.reject(now);
        } else if is_uneven {
            self.estimator.reject_uneven(now);
            return true;
        }
        is_certain || self.estimator.suspect_in(now, doubt)
    }
}
