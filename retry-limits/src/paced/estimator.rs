//! An estimate of the rate that a server accepts, from what it accepted and rejected.

mod course;
mod noise;
mod recent;
mod start;
#[cfg(test)]
mod tests;
mod text;
mod tuning;
mod user_rates;

pub(super) use noise::Doubt;
use noise::Noise;
use recent::Recent;
use retry_core::time::Timestamp;
use std::time::Duration;
use tuning::Tuning;
pub(super) use user_rates::UserRates;

/// The weight of the former estimate, as a number of accepted requests.
const INERTIA: f64 = 4.0;
/// How far above the estimate the accepted requests must be to prove a higher limit: a factor, and a number of requests.
const PROOF: (f64, f64) = (1.03, 2.5);
/// The number of accepted requests from which a proof is hardly random.
const CERTAIN: u32 = 100;
/// The longest time, in seconds, in which a server that has used up its limit rejects everything, so that it is not measured.
const WINDOW: f64 = 1.0;
/// The number of rejections in a row from which only single probes are sent.
const CLOSED_BY: u32 = 3;
/// The part of its rate to which a search falls if it is rejected before there is a measurement.
const ROUGH_CUT: f64 = 0.5;
/// The time after a warning in which the rate beyond the estimate gains only [`CLIMB_BY`], and nothing proves a higher limit.
/// All clients of the limit are warned alike, so a growth in proportion would keep their shares as they are.
const CAREFUL: Duration = Duration::from_secs(5);
/// The lowest estimate, in sends per second.
const LOWEST: f64 = 0.2;

/// An estimate of the rate that a server accepts, and the rate at which to send so that the estimate stays right.
///
/// It is a pure function of the accepted and rejected requests and their times. A
/// [`PacedRetryStrategy`](crate::PacedRetryStrategy) has one. A fleet can feed one with the answers of all its processes.
///
/// # How it works
///
/// Between two rejections, a server accepts what its limit allows: at both ends its bucket is empty. So the number of
/// accepted requests over the time between two rejections *is* the limit, whatever the burst that the server allows. This
/// is the idea of TCP Westwood (a loss sets the rate to the measured goodput), and the return from a cut follows the curve
/// of CUBIC (RFC 9438):
///
/// 1. *Ramp*: before the first rejection, the rate begins at 100 sends per second and doubles every 0.25 s.
/// 2. *Search*: the first rejection sets the rate to 0.8 of the goodput, which may include a burst. The rate doubles every
///    0.25 s until the next rejection.
/// 3. *Tracking*: a rejection sets the estimate to the goodput since the rejection before, and the rate to 0.7 of the
///    estimate. The rate returns to the estimate within 2 s and then grows by 16 % and 1.3 sends per second in each
///    second. A rejection within half a second and 16 accepted requests of the last measurement only cuts the rate again, and
///    so does one within 50 ms that would lower the estimate. If the server accepts clearly more than the estimate since the
///    last rejection, its limit is higher, and the rate doubles every 0.4 s until the next rejection.
///
/// A [warning](GoodputEstimator::warn) that few requests remain is handled like a rejection. For 5 s after it, the rate beyond
/// the estimate gains only the 1.3 sends per second, and no search for a higher limit begins.
///
/// A client that sends less than its rate learns nothing about the limit. So it calls
/// [`pause`](GoodputEstimator::pause), and the measurement starts again.
///
/// The rate is at most twice the rate of accepted requests or the estimate, whichever is higher, so that an idle client
/// doesn't come back with a burst. From the third rejection in a row on, the rate is quartered with each further one, down to
/// four probes per second. The longer everything is rejected, the fewer are sent: at most four divided by the seconds since the
/// first of these rejections.
///
/// Some servers reject requests at random, or one server of many rejects everything. A limit for this client alone is
/// different: it rejects nothing in the second after a cut, and many requests when the rate exceeds it. So
/// [`suspect`](GoodputEstimator::suspect) looks at the shares of rejected requests at these times, if there are enough of
/// them.
///
/// In three cases the measurement would be too low, so it starts again:
///
/// - Nothing is accepted for 50 ms longer than the estimate needs for 16 requests. Then a limit for each whole second is used
///   up. The time until the next second is left out, up to one second.
/// - Nothing is accepted for longer than a second, and for so long that the estimate promises more than 16 requests. Then the server
///   was closed, such as by a ban. The rate starts a new course, and the first measurement can only lower the estimate, because the
///   server may have saved up a burst.
/// - A higher limit is proved by at least 100 requests. Before the proof, the server could have accepted more than was sent,
///   and a server without a large burst does not save that up. What a server with a large burst saved up is included until
///   the next measurement.
///
/// ```
/// use retry_core::time::Timestamp;
/// use retry_limits::GoodputEstimator;
/// use std::time::Duration;
///
/// let at = |millis| Timestamp::START.saturating_add(Duration::from_millis(millis));
/// let mut estimator = GoodputEstimator::new(at(0));
/// estimator.accept(at(900), 100);
/// estimator.reject(at(1_000));
/// // The server accepts 100 requests in the next second, and then rejects one.
/// estimator.accept(at(1_500), 100);
/// estimator.reject(at(2_000));
/// assert_eq!(estimator.estimate(), Some(100.0));
/// assert_eq!(estimator.rate(at(2_000)), 70.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GoodputEstimator {
    tuning: &'static Tuning,
    user_rates: UserRates,
    phase: Phase,
    /// The time at which the current course of the rate began.
    since: Timestamp,
    /// The age of the ramp at `since`, in seconds. It is above zero if a clock that began at zero was set back by more than it had
    /// counted before the ramp.
    aged: f64,
    /// The estimate, in sends per second. In the ramp, the highest rate of accepted requests in a quarter of a second.
    estimate: f64,
    /// The start of the measurement: the last measured rejection, a later one if nothing was accepted in between, the proof of a
    /// higher limit, or the end of a pause.
    epoch: Timestamp,
    /// Whether the measurement can raise the estimate. After a pause it can't, because the server may have saved up a burst.
    can_raise: bool,
    /// Whether the measurement began later, because a silence is left out.
    skips_silence: bool,
    /// The number of requests that were accepted since then.
    accepted: u32,
    recent: Recent,
    noise: Noise,
    rejected_in_a_row: u32,
    /// The time of the first rejection of those in a row.
    rejected_since: Timestamp,
    /// The rate grows slowly until this time, because few requests remained.
    careful_until: Timestamp,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Nothing was rejected yet.
    Ramp,
    /// The rate doubles from this rate on, each time in so many seconds.
    Search { from: f64, doubles: f64 },
    /// The rate follows the estimate.
    Track,
}

impl GoodputEstimator {
    /// Counts requests that the server accepted up to now. A failure other than a rejection counts as accepted.
    pub fn accept(&mut self, now: Timestamp, requests: u32) {
        if requests == 0 {
            return;
        }
        if self.is_closed() && self.was_closed(now) {
            self.resume(now);
        }
        self.rejected_in_a_row = 0;
        self.accepted = self.accepted.saturating_add(requests);
        if self.recent.add(now, requests) && self.phase == Phase::Ramp {
            self.estimate = self.estimate.max(self.recent.rate(now));
        }
        self.user_rates.narrow(requests);
        if self.noise.rejected > 0.0 {
            self.noise.accept(requests, self.is_looking(now));
        }
        if self.phase == Phase::Track && self.can_raise && now >= self.careful_until {
            let (factor, more) = PROOF;
            if f64::from(self.accepted) > self.estimate * (factor * seconds(self.epoch, now) + self.tuning.lag) + more {
                self.phase = Phase::Search { from: self.rate(now), doubles: self.tuning.proven };
                self.since = now;
                // Up to now the server could have accepted more, and the part that it could not save up can't be
                // measured.
                if self.accepted >= CERTAIN {
                    self.begin_measurement(now, true);
                }
            }
        }
    }

    /// Counts a rejection. Leave out the rejection of a request that was sent before the last rejection was known, because
    /// it says nothing about the rate since.
    pub fn reject(&mut self, now: Timestamp) {
        if self.rejected_in_a_row == 0 {
            self.rejected_since = now;
        }
        self.rejected_in_a_row = self.rejected_in_a_row.saturating_add(1);
        self.noise.cut(self.phase == Phase::Track && !self.is_looking(now));
        self.cut(now);
    }

    /// Cuts the rate after a rejection, or instead of one.
    fn cut(&mut self, now: Timestamp) {
        let goodput = f64::from(self.accepted) / seconds(self.epoch, now).max(1e-3);
        match self.phase {
            Phase::Ramp => self.begin_search(self.recent.last_second(now)),
            // These requests were sent before their senders knew the rate of the search.
            Phase::Search { .. } if seconds(self.since, now) < self.tuning.settles => return,
            // The last measurement continues, and the rate starts a new course. Of several rejections in a row, the first
            // one cuts a search; from the third one on, probes follow.
            _ if !self.is_measured(now) => {
                if let (Phase::Search { doubles, .. }, 0 | 1) = (self.phase, self.rejected_in_a_row) {
                    self.phase = Phase::Search { from: (ROUGH_CUT * self.rate_of_phase(now)).max(LOWEST), doubles };
                }
                self.since = now;
                if self.is_silent(now) {
                    self.begin_measurement(now, true);
                    self.skips_silence = true;
                }
                return;
            }
            // The server may have saved up a burst before the measurement, so it can only lower the estimate.
            _ if !self.can_raise => {
                self.estimate = self.estimate.min(goodput).max(LOWEST);
                self.phase = Phase::Track;
            }
            Phase::Search { .. } | Phase::Track => {
                // A few requests make a rough measurement, so the former estimate has a weight too.
                let measured = f64::from(self.accepted);
                let former = self.estimate.min(2.0 * goodput);
                let estimate = ((measured * goodput + INERTIA * former) / (measured + INERTIA)).max(LOWEST);
                self.estimate = match self.found(now, goodput) {
                    Some(found) if self.phase != Phase::Track => estimate.max(found),
                    _ => estimate,
                };
                self.phase = Phase::Track;
            }
        }
        self.since = now;
        self.begin_measurement(now, true);
    }

    /// Counts a rejection by a server that rejects requests between others that it accepts, which shows that it has no burst. So in the
    /// first second of a ramp, the limit is the rate of what was accepted. The answers of the last round trip are not known yet.
    pub(super) fn reject_uneven(&mut self, now: Timestamp) {
        let (age, accepted) = (self.age(now), self.recent.last_second(now));
        self.reject(now);
        if age < 1.0 {
            self.estimate = (accepted / (age - self.tuning.lag).max(self.tuning.lag)).max(LOWEST);
            self.phase = Phase::Track;
        }
    }

    /// Counts a warning: the server accepted the request, and reported that few requests remain. The rate is cut as after a
    /// rejection, to avoid one, unless it is still returning from a cut. Returns whether it was cut.
    ///
    /// Leave out the warning about a request that was sent before the last cut was known, as with rejections.
    pub fn warn(&mut self, now: Timestamp) -> bool {
        self.careful_until = now.saturating_add(CAREFUL);
        // Below the estimate, the number of remaining requests recovers.
        let returns = self.phase == Phase::Track && seconds(self.since, now) < self.tuning.returns;
        if !returns {
            self.cut(now);
        }
        !returns
    }

    /// Discards the current measurement, because the client sends less than the rate allows: the accepted requests then
    /// say nothing about the limit. Call it while no send has to wait.
    pub fn pause(&mut self, now: Timestamp) {
        self.begin_measurement(now, false);
    }

    /// Continues at this time, which can be in the future, after a time in which the server asked for silence. The rate then
    /// starts a new course, and the first measurement can only lower the estimate, because the server may have saved up a
    /// burst.
    pub(super) fn resume(&mut self, at: Timestamp) {
        if self.phase != Phase::Ramp {
            self.phase = Phase::Track;
            self.since = at;
            self.rejected_since = at;
            self.begin_measurement(at, false);
        }
    }

    /// Returns whether so many requests in a row were rejected that only single probes are sent.
    pub(super) const fn is_closed(&self) -> bool {
        self.rejected_in_a_row >= CLOSED_BY
    }

    /// Returns the time of the first rejection of those in a row.
    pub(super) const fn rejected_since(&self) -> Timestamp {
        self.rejected_since
    }

    /// Returns whether the server has only rejected requests, for longer than a limit for each second takes to recover. Such a server
    /// was closed: that time is no measurement, and a burst may be saved up.
    pub(super) fn was_closed(&self, now: Timestamp) -> bool {
        let silence = seconds(self.rejected_since, now);
        silence > WINDOW && silence * self.estimate > f64::from(self.tuning.measured.1)
    }

    /// Returns what a search has found at least. In most of it, less was sent than the limit allows, and a server without a burst
    /// did not save that up. So what was accepted in the last second can count more than the measurement.
    fn found(&self, now: Timestamp, goodput: f64) -> Option<f64> {
        let (last, most) = self.tuning.found?;
        Some((last * self.recent.last_second(now)).min(most * goodput))
    }

    fn begin_measurement(&mut self, now: Timestamp, can_raise: bool) {
        (self.epoch, self.can_raise, self.accepted) = (now, can_raise, 0);
        self.skips_silence = false;
    }

    /// Begins a search at the rate after a cut, because the limit may rise.
    pub(super) fn search_again(&mut self, now: Timestamp) {
        let Tuning { cut, search: (_, doubles), .. } = *self.tuning;
        self.phase = Phase::Search { from: (cut * self.estimate).max(LOWEST), doubles };
        self.since = now;
    }

    /// Begins the search after the first rejection, with the number of requests that were accepted in the last second.
    fn begin_search(&mut self, goodput: f64) {
        self.estimate = (self.tuning.first * goodput).max(LOWEST);
        let (start, doubles) = self.tuning.search;
        self.phase = Phase::Search { from: start * self.estimate, doubles };
        (self.can_raise, self.aged) = (true, 0.0);
    }

    /// Returns the age of the ramp or of the current course of the rate, in seconds.
    fn age(&self, now: Timestamp) -> f64 {
        seconds(self.since, now) + self.aged
    }

    /// Returns whether enough was accepted since the last measurement for another one. If nothing was, the time until the
    /// server accepts again belongs to the measurement, so a second rejection in a row ends no measurement. Neither do a few
    /// late answers: within so short a time, a measurement can only be higher than the estimate.
    fn is_measured(&self, now: Timestamp) -> bool {
        let (time, requests) = self.tuning.measured;
        let elapsed = seconds(self.epoch, now);
        let is_long = self.accepted >= requests || self.accepted > 0 && elapsed >= time;
        let is_credible = elapsed >= self.tuning.lag || f64::from(self.accepted) > self.estimate * elapsed;
        is_long && is_credible && self.rejected_in_a_row <= 1
    }

    /// Returns whether the server has only rejected requests, for as long as the requests of a measurement take by the
    /// estimate. Then its limit does not recover evenly: for example, the limit is per second, and nothing is accepted until
    /// the next second. That time would make the measurement too low.
    fn is_silent(&self, now: Timestamp) -> bool {
        let silence = seconds(self.rejected_since, now);
        let promised = self.estimate * (silence - self.tuning.lag);
        // A few late answers may have been accepted. If requests are accepted now and then, the limit has fallen.
        let is_late = !self.skips_silence && seconds(self.epoch, self.rejected_since) <= self.tuning.lag;
        let is_long = promised > f64::from(self.tuning.measured.1) && silence <= WINDOW;
        is_long && self.rejected_in_a_row > 1 && (self.accepted == 0 || is_late)
    }

    /// Returns the estimate of the server's limit, in requests per second, or `None` before the first rejection.
    pub fn estimate(&self) -> Option<f64> {
        (self.phase != Phase::Ramp).then_some(self.estimate)
    }

    /// Returns the estimate, or `None` while a limit is searched.
    pub(super) fn tracked(&self) -> Option<f64> {
        (self.phase == Phase::Track).then_some(self.estimate)
    }

    /// Changes the unit: multiplies all numbers of requests by this factor.
    pub(super) fn rescale(&mut self, factor: f64) {
        self.estimate *= factor;
        if let Phase::Search { from, .. } = &mut self.phase {
            *from *= factor;
        }
        self.accepted = scaled(self.accepted, factor);
        self.recent.rescale(factor);
        self.user_rates.rescale(factor);
    }

    /// Continues from an earlier time, because the clock was set back by this much. A ramp keeps its age, which decides its rate, and by
    /// which [`reject_uneven`](Self::reject_uneven) divides what was accepted.
    pub(super) fn reanchor(&mut self, now: Timestamp, by: Duration) {
        let mut since = self.since;
        if self.phase == Phase::Ramp {
            since = since.saturating_sub(by);
            self.aged += by.saturating_sub(self.since.since_origin()).as_secs_f64();
        }
        self.since = since.min(now);
        self.epoch = self.epoch.min(now);
        self.rejected_since = self.rejected_since.min(now);
        self.recent.reanchor(now);
        self.careful_until = self.careful_until.min(now);
    }
}

/// Returns a number of requests times a factor, rounded.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the float saturates, and is not negative")]
fn scaled(requests: u32, factor: f64) -> u32 {
    (f64::from(requests) * factor).round() as u32
}

/// Returns the time between two points in seconds.
#[inline]
pub(super) fn seconds(from: Timestamp, to: Timestamp) -> f64 {
    to.saturating_since(from).as_secs_f64()
}
