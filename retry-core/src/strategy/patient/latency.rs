//! Which answers are fast.

use std::time::Duration;

/// The part of the timeout of an attempt below which an answer is fast. A queue of this length is worked off before attempts time
/// out.
const FAST_PART_OF_TIMEOUT: f64 = 0.15;
/// The multiple of the least latency below which an answer is fast in any case: without it, nothing is fast where the round trip is
/// a fifth of the timeout.
const FAST_MULTIPLE: f64 = 1.5;
/// The multiple of the least latency up to which an answer shows that the service has no queue. It has the same value, for a reason of its
/// own: twice the least latency sent too much to servers that are slower when they are busy.
const NO_QUEUE_MULTIPLE: f64 = 1.5;
/// The same as [`FAST_MULTIPLE`] while no timeout is known.
const FAST_MULTIPLE_WITHOUT_TIMEOUT: f64 = 2.0;
/// The most by which the least latency grows from one measurement of a healthy service to the next. If it followed at once, the answers
/// of a service that is still slow would seem fast.
const MAX_GROWTH: f64 = 1.5;

/// The part of the timeout after which an answer shows that the service may be overloaded. While a server works off a queue, its answers
/// begin to arrive just before the timeout. If one of them ended the rare probes of a new process, all such processes would probe each
/// second, and keep the answers there: with 20 calls each and a load of 90 %, 85 % of the calls are lost after a stall, instead of 40 %.
const TIMELY_PART_OF_TIMEOUT: f64 = 0.75;

/// What is known about the latencies of the service.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    timeout: Option<Duration>,
    /// The least latency of a healthy service.
    least: Option<Duration>,
    /// The least latency since the measurement began.
    measured: Option<Duration>,
    /// The least latency of all successes, also those before a timeout was known.
    fastest: Option<Duration>,
    /// Whether the service has answered while no operation waited for it, after timeouts.
    is_settled: bool,
}

impl Latency {
    pub(super) const fn new() -> Self {
        Self { timeout: None, least: None, measured: None, fastest: None, is_settled: false }
    }

    /// Records the latency of a success. Returns whether it was fast.
    pub(super) fn succeeded(&mut self, latency: Duration) -> bool {
        self.measured = Some(self.measured.map_or(latency, |least| least.min(latency)));
        let least = self.least.map_or(latency, |least| least.min(latency));
        self.least = Some(least);
        self.fastest = Some(self.fastest.map_or(latency, |fastest| fastest.min(latency)));
        latency <= self.fast(least)
    }

    /// Returns whether a success after this time, which was not recorded yet, shows that the service has no queue. The first success does
    /// not: there is nothing to compare it with. If it did, new processes that keep coming would keep a server with a queue busy.
    pub(super) fn shows_no_queue(&self, latency: Duration) -> bool {
        self.least.is_some_and(|least| latency <= least.mul_f64(NO_QUEUE_MULTIPLE))
    }

    /// Records the timeout of an attempt that failed, if it is known.
    pub(super) fn failed(&mut self, timeout: Option<Duration>) {
        self.timeout = timeout.or(self.timeout);
    }

    /// Ends the measurement, and takes its least latency over.
    pub(super) fn learn(&mut self) {
        self.least = match (self.least, self.measured.take()) {
            (Some(least), Some(measured)) => Some(measured.min(least.mul_f64(MAX_GROWTH))),
            (least, measured) => least.or(measured),
        };
    }

    /// Begins another measurement.
    pub(super) const fn measure_again(&mut self) {
        self.measured = None;
    }

    /// Returns the least latency of a healthy service. `None` before the first success.
    pub(super) const fn least(&self) -> Option<Duration> {
        self.least
    }

    /// Returns the longest latency of a fast answer. `None` before the first success.
    pub(super) fn longest_fast(&self) -> Option<Duration> {
        self.least.map(|least| self.fast(least))
    }

    /// Records that the service has answered while no operation waited for it, after timeouts. So it is not overloaded, however late its
    /// answers are.
    pub(super) const fn settle(&mut self) {
        self.is_settled = true;
    }

    /// Returns whether an attempt has succeeded, and not just before the timeout.
    pub(super) fn had_timely_answer(&self) -> bool {
        // A service that reports timeouts by itself may do so faster than it succeeds. That says nothing about successes.
        let is_late = |latency: Duration| {
            self.timeout.is_some_and(|timeout| latency > timeout.mul_f64(TIMELY_PART_OF_TIMEOUT) && latency <= timeout)
        };
        self.is_settled || self.fastest.is_some_and(|latency| !is_late(latency))
    }

    /// Returns the longest latency of a fast answer, with this least latency.
    fn fast(&self, least: Duration) -> Duration {
        match self.timeout {
            Some(timeout) => timeout.mul_f64(FAST_PART_OF_TIMEOUT).max(least.mul_f64(FAST_MULTIPLE)),
            None => least.mul_f64(FAST_MULTIPLE_WITHOUT_TIMEOUT),
        }
    }
}
