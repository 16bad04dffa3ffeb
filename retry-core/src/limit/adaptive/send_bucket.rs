//! A token bucket for sends, whose rate is learned from responses. It is pure arithmetic, without a queue or a lock.

use crate::limit::adaptive::rate::{Cubic, MeasuredRate};
use crate::limit::queue::{SendSupply, time_for};
use crate::time::{Latest, Observed, Timestamp};
use std::time::Duration;

/// The lowest rate of sends per second.
const MIN_FILL: f64 = 0.5;
/// The lowest capacity of the bucket, in tokens.
const MIN_CAPACITY: f64 = 1.0;
/// The highest ratio of the rate to the measured rate.
const MAX_LEAD: f64 = 2.0;

/// A token bucket for sends, each of which takes one token. Its balance is never negative, because an operation takes the
/// token only when its send is granted, not when it starts to wait.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SendBucket {
    /// The rate of the refill, in tokens per second.
    pub(super) fill: f64,
    /// The number of tokens that the bucket holds when it is full.
    pub(super) max_capacity: f64,
    /// The current number of tokens.
    pub(super) capacity: f64,
    /// The time of the last refill; `None` before the first one.
    pub(super) last_refill: Option<Timestamp>,
}

impl SendBucket {
    /// Adds the tokens that have accumulated since the last refill.
    #[inline]
    pub(super) fn refill(&mut self, now: Timestamp) {
        // A full bucket stays full, which saves the arithmetic of most responses before the first throttling.
        if let Some(last) = self.last_refill
            && self.capacity < self.max_capacity
        {
            let gained = now.saturating_since(last).as_secs_f64() * self.fill;
            self.capacity = self.max_capacity.min(self.capacity + gained);
        }
        self.last_refill = Some(now);
    }

    /// Returns the time until the bucket holds this many sends. The bucket must have been refilled just now.
    ///
    /// Returns zero if the bucket holds them, or if the missing part accumulates in less than a nanosecond, which no
    /// clock can measure.
    pub(super) fn wait_for(&self, sends: f64) -> Duration {
        time_for((sends - self.capacity).max(0.0), self.fill)
    }

    /// Takes one send.
    pub(super) fn take(&mut self) {
        // The bucket can hold slightly less than a send; see `wait_for`.
        self.capacity = (self.capacity - 1.0).max(0.0);
    }

    /// Sets the rate from now on. Tokens up to now accumulate at the former rate.
    #[inline]
    pub(super) fn set_rate(&mut self, now: Timestamp, rate: f64, min_fill: f64) {
        self.refill(now);
        self.fill = rate.max(min_fill);
        self.max_capacity = rate.max(MIN_CAPACITY);
        self.capacity = self.capacity.min(self.max_capacity);
    }
}

/// A limiter of sends whose rate is learned from responses. It is enabled by the first throttling, and stays enabled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiter {
    enabled: bool,
    pub(super) bucket: SendBucket,
    pub(super) measured: MeasuredRate,
    cubic: Cubic,
    latest: Latest,
}

impl Limiter {
    /// Creates a limiter that measures the rate of responses from now on.
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            enabled: false,
            bucket: SendBucket::default(),
            measured: MeasuredRate::new(now),
            cubic: Cubic::new(now),
            latest: Latest::new(now),
        }
    }

    /// Returns whether sends are limited, which is the case after the first throttling.
    pub(super) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Returns the current limit, in sends per second.
    pub(super) const fn rate(&self) -> f64 {
        self.bucket.fill
    }

    /// Learns from a response, and sets the new rate.
    #[inline]
    pub(super) fn response(&mut self, now: Timestamp, throttled: bool) {
        let measured = self.measured.update(now);
        let most = highest_rate(measured);
        let rate = if throttled { self.cut(now, measured).min(most) } else { self.cubic.grown_up_to(now, most) };
        self.bucket.set_rate(now, rate, MIN_FILL);
    }

    /// Handles a throttling, and returns the rate after the cut.
    #[cold]
    fn cut(&mut self, now: Timestamp, measured: f64) -> f64 {
        let rate = if self.enabled { measured.min(self.bucket.fill) } else { measured };
        self.enabled = true;
        self.cubic.throttled(now, rate)
    }

    /// Continues from an earlier time, because the clock was set back.
    #[cold]
    fn reanchor(&mut self, anchor: Timestamp) {
        self.bucket.last_refill = self.bucket.last_refill.map(|last| last.min(anchor));
        self.measured.reanchor(anchor);
        self.cubic.reanchor(anchor);
    }
}

impl SendSupply for Limiter {
    type Weight = ();

    /// Threads may deliver their readings of the clock out of order; see [`Latest`].
    #[inline]
    fn observe(&mut self, now: Timestamp) -> Observed {
        let observed = self.latest.observe(now);
        if let Some(anchor) = observed.went_back_to {
            self.reanchor(anchor);
        }
        observed
    }

    #[inline]
    fn refill(&mut self, now: Timestamp) {
        self.bucket.refill(now);
    }

    #[inline]
    fn wait_for(&self, sends: f64) -> Duration {
        self.bucket.wait_for(sends)
    }

    #[inline]
    fn take(&mut self, (): ()) {
        self.bucket.take();
    }

    /// If the bucket is full, the send is lost.
    fn give_back(&mut self, (): ()) {
        self.bucket.capacity = self.bucket.max_capacity.min(self.bucket.capacity + 1.0);
    }

    fn interval(&self) -> Duration {
        time_for(1.0, self.bucket.fill)
    }
}

/// Returns the highest rate that a measured rate allows.
pub(super) fn highest_rate(measured: f64) -> f64 {
    MAX_LEAD * measured
}
