//! The limit on sends that follows the estimate.

use super::reports::Reports;
use super::{GoodputEstimator, PacedAnswers};
use crate::limit::queue::{SendSupply, time_for};
use crate::policy::RateLimit;
use crate::time::{Latest, Observed, Timestamp};
use std::time::Duration;

/// Sends that were not used within this time, in seconds, are lost. It covers the resolution of timers and threads that wake
/// up late. Without it, every delay of a waiter would be lost.
const UNUSED: f64 = 0.05;

/// A limit on sends at the rate of a [`GoodputEstimator`]. Sends are spaced evenly.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    pub(super) estimator: GoodputEstimator,
    /// A rate from elsewhere, in sends per second, which is used in place of the estimator's.
    imposed: Option<f64>,
    /// What the server answered, and how often operations had to wait, in all limits so far.
    pub(super) answers: PacedAnswers,
    /// The number of rejections and warnings that cut the estimator's rate, of cuts that came from elsewhere, and of limits
    /// that began.
    pub(super) rejections: u32,
    /// The rate at the last refill, in sends per second. It takes powers to compute.
    rate: f64,
    /// The number of sends that are available.
    sends: f64,
    pub(super) filled: Timestamp,
    /// The time at which an operation last had to wait for a send.
    pub(super) waited_at: Timestamp,
    /// The end of a wait that the server asked for.
    held_until: Timestamp,
    reports: Reports,
    latest: Latest,
}

impl Pace {
    pub(super) fn new(estimator: GoodputEstimator, now: Timestamp) -> Self {
        let rate = estimator.rate(now);
        Self {
            estimator,
            imposed: None,
            answers: PacedAnswers::default(),
            rejections: 0,
            rate,
            sends: 0.0,
            filled: now,
            waited_at: now,
            held_until: now,
            reports: Reports::new(now),
            latest: Latest::new(now),
        }
    }

    /// Begins another limit, with another estimator. Rejections of requests that were sent before do not count.
    pub(super) fn restart(&mut self, estimator: GoodputEstimator, now: Timestamp) {
        let (answers, rejections, latest) = (self.answers, self.rejections.wrapping_add(1), self.latest);
        *self = Self { answers, rejections, latest, ..Self::new(estimator, now) };
    }

    /// Counts accepted requests.
    pub(super) fn accept(&mut self, now: Timestamp, requests: u32) {
        self.answers.accepted += u64::from(requests);
        self.estimator.accept(now, requests);
    }

    /// Counts a rejection, unless the request was sent before the last rejection or cut was known.
    pub(super) fn reject(&mut self, now: Timestamp, sent_after: Option<u32>) {
        if sent_after == Some(self.rejections) {
            self.refill(now);
            self.answers.rejected += 1;
            self.estimator.reject(now);
            self.rate = self.rate_at(now);
            // A rate from elsewhere has not changed, so other requests that were sent at it count, too.
            if self.imposed.is_none() {
                self.rejections = self.rejections.wrapping_add(1);
            }
        }
    }

    /// Sets the rate, or returns to the estimator's. After a cut, rejections of requests that were sent before do not count.
    pub(super) fn impose(&mut self, now: Timestamp, rate: Option<f64>, is_cut: bool) {
        self.refill(now);
        self.imposed = rate;
        self.rate = self.rate_at(now);
        if is_cut {
            self.rejections = self.rejections.wrapping_add(1);
        }
    }

    /// Takes note of what the server reported. It is a warning if few requests remain, unless the request was sent before the
    /// last cut was known.
    pub(super) fn report(&mut self, now: Timestamp, sent_after: Option<u32>, limit: RateLimit) {
        if !self.reports.few_remain(now, limit) || sent_after != Some(self.rejections) {
            return;
        }
        self.refill(now);
        if self.estimator.warn(now) {
            self.rate = self.rate_at(now);
            if self.imposed.is_none() {
                self.rejections = self.rejections.wrapping_add(1);
            }
        }
    }

    fn rate_at(&self, now: Timestamp) -> f64 {
        self.imposed.unwrap_or_else(|| self.estimator.rate(now))
    }

    /// Returns the rate at the last question or throttling, in sends per second.
    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }

    /// Holds back all sends for this time from now on.
    pub(super) fn hold(&mut self, now: Timestamp, wait: Duration) {
        self.held_until = self.held_until.max(now.saturating_add(wait));
    }
}

impl SendSupply for Pace {
    /// Threads may deliver their readings of the clock out of order; see [`Latest`].
    fn observe(&mut self, now: Timestamp) -> Observed {
        let observed = self.latest.observe(now);
        if let Some(anchor) = observed.went_back_to {
            self.estimator.reanchor(anchor);
            self.reports.reanchor(anchor);
            self.filled = self.filled.min(anchor);
            self.waited_at = self.waited_at.min(anchor);
            // How much of the wait is left is unknown, so it is over.
            self.held_until = self.held_until.min(anchor);
        }
        observed
    }

    fn refill(&mut self, now: Timestamp) {
        let since = self.filled.max(self.held_until);
        let elapsed = now.saturating_since(since).as_secs_f64();
        if elapsed > 0.0 {
            self.rate = self.rate_at(now);
            self.sends = (self.sends + elapsed * self.rate).min((UNUSED * self.rate).max(1.0));
        }
        self.filled = self.filled.max(now);
    }

    fn wait_for(&self, sends: f64) -> Duration {
        let missing = sends - self.sends;
        let held = self.held_until.saturating_since(self.filled);
        if missing <= 0.0 { held } else { held.saturating_add(time_for(missing, self.rate)) }
    }

    fn take(&mut self) {
        self.sends = (self.sends - 1.0).max(0.0);
    }

    fn give_back(&mut self) {
        self.sends = (self.sends + 1.0).min((UNUSED * self.rate()).max(1.0));
    }

    fn interval(&self) -> Duration {
        Duration::try_from_secs_f64(1.0 / self.rate()).unwrap_or(Duration::MAX)
    }
}
