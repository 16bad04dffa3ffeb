//! The limit on sends that follows the estimate.

use super::answered::Answered;
use super::closings::Closings;
use super::estimator::{Doubt, UserRates};
use super::fallen::Fallen;
use super::hold::Hold;
use super::hurry::Hurry;
use super::place::Grant;
use super::reports::Reports;
use super::unit::{Scale, Unit};
use super::{GoodputEstimator, PacedAnswers};
use crate::number::next_short;
use retry_core::classify::http::RateLimit;
use retry_core::parts::{Latest, Observed};
use retry_core::parts::{RECHECK, SendSupply, time_for};
use retry_core::time::Timestamp;
use std::marker::PhantomData;
use std::num::NonZeroU16;
use std::time::Duration;

mod accepted;
mod held;
mod rate;
mod rejected;
mod saved;
#[cfg(test)]
mod tests;

/// The time without waiters after which the client, and not the limit, determines how much is sent.
const UNUSED_FOR: Duration = Duration::from_secs(1);

/// A limit on sends at the rate of a [`GoodputEstimator`]. Sends are spaced evenly.
///
/// With weights, a send is a request of the mean weight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace<U> {
    pub(super) estimator: GoodputEstimator,
    /// An external rate, in sends per second, which is used in place of the estimator's, within the limit that the user
    /// sets.
    imposed: Option<f64>,
    /// The counts of the server's answers and of the waits of operations, in all limits so far.
    pub(super) answers: PacedAnswers,
    /// One more than the number of rejections and warnings that cut the estimator's rate, of external cuts, and of limits that
    /// began. It wraps.
    pub(super) rejections: NonZeroU16,
    /// The rate at the last refill, in sends per second. It takes powers to compute.
    rate: f64,
    /// The number of sends that are available.
    sends: f64,
    pub(super) filled: Timestamp,
    /// The time at which an operation last had to wait for a send.
    pub(super) waited_at: Timestamp,
    /// The time at which an operation was last known to have a limit of its own.
    own_at: Option<Timestamp>,
    hold: Hold,
    reports: Reports,
    answered: Answered,
    fallen: Fallen,
    closings: Closings,
    hurry: Hurry,
    latest: Latest,
    /// Used with weights only.
    scale: Scale,
    unit: PhantomData<U>,
}

impl<U: Unit> Pace<U> {
    pub(super) fn new(estimator: &GoodputEstimator, now: Timestamp) -> Self {
        let rate = estimator.rate(now);
        Self {
            estimator: *estimator,
            imposed: None,
            answers: PacedAnswers::default(),
            rejections: NonZeroU16::MIN,
            rate,
            sends: 0.0,
            filled: now,
            waited_at: now,
            own_at: None,
            hold: Hold::over(now),
            reports: Reports::new(now),
            answered: Answered::none(now),
            fallen: Fallen::new(now),
            closings: Closings::NONE,
            hurry: Hurry::No,
            latest: Latest::new(now),
            scale: Scale::new(),
            unit: PhantomData,
        }
    }

    /// Begins another limit, with another estimator and the user's rates. Rejections of requests that were sent before are ignored.
    pub(super) fn restart(&mut self, mut estimator: GoodputEstimator, user_rates: UserRates, now: Timestamp) {
        estimator.set_user_rates(user_rates.in_unit(self.scale.unit()));
        let (answers, rejections, latest, scale) = (self.answers, next_short(self.rejections), self.latest, self.scale);
        let hold = self.hold.restarted(now);
        *self = Self { answers, rejections, hold, latest, scale, ..Self::new(&estimator, now) };
    }

    /// Records that an operation joined others that wait for this many sends.
    pub(super) fn meet_queue(&mut self, sends: f64) {
        if self.is_unlimited() {
            self.hurry.meet_queue(self.filled, sends / self.estimator.user_rates().first());
        }
    }

    /// Begins the measurement again, because no operation waits.
    pub(super) fn pause(&mut self, now: Timestamp) {
        self.hurry.pause();
        self.estimator.pause(now);
    }

    /// Records the weight of an operation that asks for the first time, or of a response while sends are not limited.
    pub(super) fn meet(&mut self, weight: U::Weight) {
        if let Some(factor) = U::get(weight).and_then(|weight| self.scale.meet(weight)) {
            self.estimator.rescale(factor);
            self.fallen.rescale(factor);
            self.closings.rescale(factor);
            self.rate *= factor;
            self.sends *= factor;
        }
    }

    /// Records that a send was granted that was taken before. If its operation does not make it, [`not_sent`](Pace::not_sent)
    /// follows.
    #[inline]
    pub(super) fn grant(&mut self) -> Grant {
        let granted = Grant::after(self.rejections);
        if self.hold.is_active() { self.hold.grant(granted) } else { granted }
    }

    /// Gives back a granted send of this weight that was not made. In a hold, only its probe can be sent again.
    pub(super) fn not_sent(&mut self, granted: Grant, weight: U::Weight) {
        if !self.hold.is_active() {
            self.give_back(weight);
        } else if self.hold.is_probe(granted) {
            self.sends = self.one();
        }
    }

    /// Returns whether the rate determines how much is sent, and not the client: an operation had to wait for a send in the last second.
    pub(super) fn is_limited(&self, now: Timestamp) -> bool {
        now.saturating_since(self.waited_at) <= UNUSED_FOR
    }

    /// Sets the rate, or returns to the estimator's. After a cut, rejections of requests that were sent before are ignored.
    pub(super) fn impose(&mut self, now: Timestamp, rate: Option<f64>, is_cut: bool) {
        self.refill(now);
        self.imposed = rate;
        self.hurry.pause();
        self.rate = self.rate_at(now);
        if is_cut {
            self.rejections = next_short(self.rejections);
        }
    }

    /// Evaluates the server's report. It is a warning if few requests remain, unless the request was sent before the last cut
    /// was known.
    pub(super) fn report(&mut self, now: Timestamp, sent_after: Option<NonZeroU16>, limit: RateLimit) {
        if !self.reports.few_remain(now, limit) || sent_after != Some(self.rejections) {
            return;
        }
        self.refill(now);
        if self.estimator.warn(now) {
            self.rate = self.rate_at(now);
            if self.imposed.is_none() {
                self.rejections = next_short(self.rejections);
            }
        }
    }

    /// Sets the user's rates.
    pub(super) fn set_user_rates(&mut self, now: Timestamp, user_rates: UserRates) {
        self.refill(now);
        self.estimator.set_user_rates(user_rates.in_unit(self.scale.unit()));
        self.rate = self.rate_at(now);
        self.sends = self.saved(self.sends);
    }

    /// Continues from an earlier time, because the clock was set back by this much.
    #[cold]
    fn reanchor(&mut self, anchor: Timestamp, by: Duration) {
        self.estimator.reanchor(anchor, by);
        self.reports.reanchor(anchor);
        self.answered.reanchor(anchor);
        self.fallen.reanchor(anchor);
        self.closings.reanchor(anchor);
        self.hurry.reanchor(anchor);
        self.filled = self.filled.min(anchor);
        self.waited_at = self.waited_at.min(anchor);
        self.own_at = self.own_at.map(|at| at.min(anchor));
        self.hold.reanchor(anchor);
    }
}

impl<U: Unit> SendSupply for Pace<U> {
    type Weight = U::Weight;

    #[inline]
    fn sends(&self, weight: U::Weight) -> f64 {
        U::get(weight).map_or(1.0, |weight| self.scale.sends(weight))
    }

    #[inline]
    fn sends_of_all(&self, requests: usize, weight: impl Fn(usize) -> U::Weight) -> f64 {
        U::sum(requests, || {
            let enough = self.sends + self.rate * RECHECK.as_secs_f64();
            let mut sum = 0.0;
            for index in 0..requests {
                sum += self.sends(weight(index));
                if sum > enough {
                    break;
                }
            }
            sum
        })
    }

    /// Threads may deliver their readings of the clock out of order; see [`Latest`].
    fn observe(&mut self, now: Timestamp) -> Observed {
        let latest = self.latest.get();
        let observed = self.latest.observe(now);
        if let Some(anchor) = observed.went_back_to {
            self.reanchor(anchor, latest.saturating_since(anchor));
        }
        observed
    }

    fn refill(&mut self, now: Timestamp) {
        if self.hold.is_active() {
            self.pass_in_hold(now);
        }
        let since = self.filled;
        let elapsed = now.saturating_since(since).as_secs_f64();
        if elapsed > 0.0 {
            self.rate = self.rate_at(now);
            self.sends = self.saved(self.sends + elapsed * self.rate);
        }
        self.filled = self.filled.max(now);
    }

    fn wait_for(&self, sends: f64) -> Duration {
        let missing = sends - self.sends;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        let wait = time_for(missing, self.rate);
        if self.hold.is_active() { self.wait_in_hold(sends, wait) } else { wait }
    }

    fn take(&mut self, weight: U::Weight) {
        self.sends = (self.sends - self.sends(weight)).max(0.0);
        if self.hold.is_active() {
            self.take_in_hold();
        }
    }

    /// Gives back a send that was kept, or a granted one outside a hold.
    fn give_back(&mut self, weight: U::Weight) {
        if self.hold.is_active() {
            return self.give_back_in_hold();
        }
        self.sends = self.saved(self.sends + self.sends(weight));
    }

    fn interval(&self) -> Duration {
        time_for(1.0, self.rate)
    }
}
