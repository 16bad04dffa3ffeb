//! The limit on sends that follows the estimate.

use super::answered::Answered;
use super::closings::Closings;
use super::estimator::{Doubt, Told};
use super::fallen::Fallen;
use super::hold::Hold;
use super::hurry::Hurry;
use super::reports::Reports;
use super::unit::{Scale, Unit};
use super::{GoodputEstimator, PacedAnswers};
use crate::number::next;
use crate::throttled::Throttled;
use crate::waits::LONGEST_OWN_WAIT;
use retry_core::parts::{Latest, Observed};
use retry_core::parts::{RECHECK, SendSupply, time_for};
use retry_core::policy::RateLimit;
use retry_core::time::Timestamp;
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// Sends that were not used within this time, in seconds, are lost. It covers the resolution of timers and threads that wake
/// up late. Without it, every delay of a waiter would be lost.
const UNUSED: f64 = 0.05;
/// The same with a limit that the user sets, because the server may allow no burst. It covers the resolution of timers
/// only.
const LATE: f64 = 0.002;

/// The time without waiters after which the client, and not the limit, determines how much is sent.
const UNUSED_FOR: Duration = Duration::from_secs(1);
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

/// The part of a told burst that is kept back, for messages that arrive early and clocks that differ, but at least one send.
const KEPT_BACK: f64 = 0.03;

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
    /// began.
    pub(super) rejections: NonZeroU32,
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
            rejections: NonZeroU32::MIN,
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
    pub(super) fn restart(&mut self, mut estimator: GoodputEstimator, told: Told, now: Timestamp) {
        estimator.tell(told.in_unit(self.scale.unit()));
        let (answers, rejections, latest, scale) = (self.answers, next(self.rejections), self.latest, self.scale);
        *self = Self { answers, rejections, latest, scale, ..Self::new(&estimator, now) };
    }

    /// Counts accepted requests.
    pub(super) fn accept(&mut self, now: Timestamp, requests: u32) {
        self.learn(now, requests, u64::from(requests));
    }

    #[inline]
    fn learn(&mut self, now: Timestamp, sends: u32, requests: u64) {
        if self.hold.is_active() && self.hold.accept(now) {
            self.estimator.resume(now);
        }
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

    /// Records that an operation joined others that wait for this many sends.
    pub(super) fn meet_queue(&mut self, sends: f64) {
        if self.is_unlimited() {
            self.hurry.meet_queue(self.filled, sends / self.estimator.told().first());
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

    /// Counts an accepted request of this weight, which used so much of the limit. What it used beyond its weight is owed by
    /// the next ones.
    pub(super) fn accept_weight(&mut self, now: Timestamp, weight: U::Weight, used: Option<u32>) {
        let weight = U::get(weight).unwrap_or_default();
        let used = used.unwrap_or(weight);
        self.refill(now);
        self.sends = self.saved(self.sends + self.scale.sends(weight) - self.scale.sends(used));
        let sends = self.scale.accepted(used);
        self.learn(now, sends, 1);
    }

    /// Returns whether a rejection of an operation is probably not one by the limit of all operations: others were accepted since
    /// its last one, and if the limit rejected operations at random, so many in a row would be rare.
    pub(super) fn is_own(&mut self, now: Timestamp, throttled: &mut Throttled) -> bool {
        let share = self.answered.reject(now, self.answers.accepted);
        let is_rare = share.powf(f64::from(throttled.attempts()) + 1.0) < OWN_RARE;
        let is_own = throttled.saw_others(self.answers.accepted) && is_rare && !self.estimator.is_closed();
        if is_own && throttled.attempts() >= OWN_KNOWN {
            self.own_at = Some(now);
        }
        is_own
    }

    /// Forgets that there are operations with a limit of their own. One that is rejected again shows it again.
    pub(super) fn refute_own(&mut self) {
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

    /// Returns whether the rate determines how much is sent, and not the client: an operation had to wait for a send in the last second.
    pub(super) fn is_limited(&self, now: Timestamp) -> bool {
        now.saturating_since(self.waited_at) <= UNUSED_FOR
    }

    /// Counts a rejection, unless the request was sent before the last cut was known. `holds` says whether the wait with it is
    /// long enough to hold back all sends. Returns whether it is noise for a client that the rate does not limit.
    pub(super) fn reject(&mut self, now: Timestamp, sent_after: Option<NonZeroU32>, holds: bool) -> bool {
        let doubt = self.doubt(now);
        self.hurry = Hurry::Never;
        if sent_after == Some(self.rejections) {
            self.refill(now);
            self.answers.rejected += 1;
            // The server's burst is used up.
            if self.estimator.told().burst() > 1 {
                self.sends = 0.0;
            }
            self.hold.reject(now);
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
                self.rejections = next(self.rejections);
            }
            return !is_cut && doubt == Doubt::Unlimited;
        }
        false
    }

    /// Reports a rejection to the estimator. A rejection that holds back all sends is certainly evidence of a limit. So is the
    /// first one with an external rate, because there was no ramp, and one in a ramp that is shut out. With a limit that the user sets,
    /// the space between sends grows first.
    fn cut(&mut self, now: Timestamp, holds: bool, doubt: Doubt) -> bool {
        let is_shut_out = !self.estimator.told().has_limit() && self.answered.is_shut_out();
        let is_first = self.estimator.estimate().is_none();
        let is_certain = holds || is_first && (self.imposed.is_some() || is_shut_out);
        // A client that sends less than its rate learns nothing from a few rejections.
        let learns = doubt == Doubt::None && self.is_limited(now);
        let is_uneven = is_first && learns && !self.estimator.told().has_limit() && self.answered.is_uneven();
        if is_certain {
            self.estimator.reject(now);
        } else if is_uneven {
            self.estimator.reject_uneven(now);
            return true;
        }
        is_certain || self.estimator.suspect_in(now, doubt)
    }

    /// Sets the rate, or returns to the estimator's. After a cut, rejections of requests that were sent before are ignored.
    pub(super) fn impose(&mut self, now: Timestamp, rate: Option<f64>, is_cut: bool) {
        self.refill(now);
        self.imposed = rate;
        self.hurry.pause();
        self.rate = self.rate_at(now);
        if is_cut {
            self.rejections = next(self.rejections);
        }
    }

    /// Evaluates the server's report. It is a warning if few requests remain, unless the request was sent before the last cut
    /// was known.
    pub(super) fn report(&mut self, now: Timestamp, sent_after: Option<NonZeroU32>, limit: RateLimit) {
        if !self.reports.few_remain(now, limit) || sent_after != Some(self.rejections) {
            return;
        }
        self.refill(now);
        if self.estimator.warn(now) {
            self.rate = self.rate_at(now);
            if self.imposed.is_none() {
                self.rejections = next(self.rejections);
            }
        }
    }

    /// Sets the user's rates.
    pub(super) fn tell(&mut self, now: Timestamp, told: Told) {
        self.refill(now);
        self.estimator.tell(told.in_unit(self.scale.unit()));
        self.rate = self.rate_at(now);
        self.sends = self.saved(self.sends);
    }

    /// Returns whether the rate comes from the estimator, and the estimator knows of no limit.
    pub(super) fn is_unlimited(&self) -> bool {
        self.imposed.is_none() && self.estimator.estimate().is_none()
    }

    /// Returns the time in which this many sends become available at the highest rate that is likely, or zero if that is not known:
    /// while a limit is searched. The wait that a server asks for is not included, because a probe can end it.
    pub(super) fn wait_at_best_for(&self, sends: f64) -> Duration {
        let told = self.estimator.told();
        let best = match (self.imposed, self.estimator.tracked()) {
            (Some(_), _) => self.rate,
            (None, Some(estimate)) => told.capped(self.rate.max(estimate.min(self.closings.cap(self.filled)))),
            (None, None) => told.capped(f64::INFINITY),
        };
        let missing = sends - self.sends;
        if missing <= 0.0 || best.is_infinite() { Duration::ZERO } else { time_for(missing, best) }
    }

    fn rate_at(&self, now: Timestamp) -> f64 {
        let told = self.estimator.told();
        match (self.imposed, self.hurry.factor()) {
            (Some(rate), _) => told.capped(rate),
            (None, Some(factor)) if self.is_unlimited() => {
                told.capped(factor * told.first()).max(self.estimator.rate(now))
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
            rate = rate.max(self.estimator.told().capped(probes));
        }
        rate.min(self.closings.cap(now))
    }

    /// Returns how many unused sends are saved up.
    #[inline]
    fn saved(&self, sends: f64) -> f64 {
        if self.estimator.told().has_limit() {
            self.barely_saved(sends)
        } else {
            sends.min((UNUSED * self.rate).max(self.one()))
        }
    }

    /// Returns the sends of one request, whichever it is. A server that accepts the heaviest one accepts as many light ones at
    /// once.
    #[inline]
    fn one(&self) -> f64 {
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
        let told = self.estimator.told();
        if told.burst() <= 1 || !self.is_unlimited() {
            return 0.0;
        }
        let burst = self.scale.sends(told.burst());
        burst - (KEPT_BACK * burst).max(self.scale.sends(1))
    }

    /// Makes the whole burst available, because nothing was sent yet.
    pub(super) fn fill(&mut self) {
        self.sends = self.burst().max(self.sends);
    }

    /// Returns the rate at the last question or throttling, in sends per second.
    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }

    /// Holds back all sends for this time from now on, except probes, if the server probably needs the wait. Returns
    /// whether it does so.
    pub(super) fn hold(&mut self, now: Timestamp, wait: Duration) -> bool {
        let is_believed = self.hold.is_believed(self.estimator.is_closed());
        if is_believed {
            self.hold.begin(now, wait, self.probe_interval());
            self.sends = 0.0;
            // The time of the hold is not measured, and the rate does not grow in it.
            self.estimator.resume(self.hold.until());
        }
        is_believed
    }

    /// Returns the shortest time between two sends at the highest rate that the user allows.
    fn probe_interval(&self) -> Duration {
        self.estimator.told().time_for(self.one())
    }

    /// Passes the time of a hold, in which only probes become available.
    #[cold]
    fn pass_in_hold(&mut self, now: Timestamp) {
        // A send that was given back is the probe, so that there are not two probes.
        if self.hold.pass(now) {
            self.sends = self.sends.max(self.one());
            self.hold.probe(now, self.probe_interval());
        }
        if let Some((begun, until)) = self.hold.closing() {
            self.closings.add(begun, until, self.answers.accepted);
        }
        self.filled = self.filled.max(self.hold.until().min(now));
    }

    /// Returns the time until this many sends are available, of which the first one can be a probe. After the hold, it is
    /// `after`.
    #[cold]
    fn wait_in_hold(&self, sends: f64, after: Duration) -> Duration {
        let held = self.hold.until().saturating_since(self.filled).saturating_add(after);
        if sends > self.one() { held } else { held.min(self.hold.next_probe().saturating_since(self.filled)) }
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
            self.estimator.reanchor(anchor, latest.saturating_since(anchor));
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
        // Of light requests, only one is the probe.
        if U::IS_WEIGHED && self.hold.is_active() {
            self.sends = 0.0;
        }
    }

    fn give_back(&mut self, weight: U::Weight) {
        self.sends = self.saved(self.sends + self.sends(weight));
    }

    fn interval(&self) -> Duration {
        time_for(1.0, self.rate)
    }
}
