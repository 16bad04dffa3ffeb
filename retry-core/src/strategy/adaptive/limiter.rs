//! A token bucket for sends, whose rate is learned from responses: pure arithmetic, without a queue and without a lock.

use crate::strategy::adaptive::rate::{Cubic, MeasuredRate};
use crate::time::{Latest, Observed, Timestamp};
use std::time::Duration;

/// The lowest rate of sends per second.
const MIN_FILL: f64 = 0.5;
/// The least that the bucket holds when it is full.
const MIN_CAPACITY: f64 = 1.0;
/// What one send takes from the bucket.
const SEND: f64 = 1.0;
/// How far the rate may exceed the measured one.
const MAX_LEAD: f64 = 2.0;

/// Tokens for sends. It never owes any: whoever waits has not taken one yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendBucket {
    pub(super) fill: f64,
    pub(super) max_capacity: f64,
    pub(super) capacity: f64,
    pub(super) last_refill: Option<Timestamp>,
}

impl SendBucket {
    pub(super) const fn new() -> Self {
        Self { fill: 0.0, max_capacity: 0.0, capacity: 0.0, last_refill: None }
    }

    pub(super) fn refill(&mut self, now: Timestamp) {
        if let Some(last) = self.last_refill {
            let gained = now.saturating_since(last).as_secs_f64() * self.fill;
            self.capacity = self.max_capacity.min(self.capacity + gained);
        }
        self.last_refill = Some(now);
    }

    /// How long the bucket, refilled just now, takes to hold this many sends; zero if it holds them, or all but what no
    /// clock can tell.
    pub(super) fn wait_for(&self, sends: f64) -> Duration {
        let missing = sends * SEND - self.capacity;
        if missing <= 0.0 {
            return Duration::ZERO;
        }
        match Duration::try_from_secs_f64(missing / self.fill) {
            // Rounded up, so that whoever asks after this time is not told to wait for a nanosecond more.
            Ok(wait) if !wait.is_zero() => wait.saturating_add(Duration::from_nanos(1)),
            Ok(zero) => zero,
            Err(_) => Duration::MAX,
        }
    }

    /// Takes one send.
    pub(super) fn take(&mut self) {
        self.capacity = (self.capacity - SEND).max(0.0);
    }

    /// Sets the rate from now on; what was gained until now came at the former one.
    pub(super) fn set_rate(&mut self, now: Timestamp, rate: f64, min_fill: f64) {
        self.refill(now);
        self.fill = rate.max(min_fill);
        self.max_capacity = rate.max(MIN_CAPACITY);
        self.capacity = self.capacity.min(self.max_capacity);
    }
}

/// Limits sends to a rate that it learns. It begins with the first throttling, and never ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limiter {
    enabled: bool,
    pub(super) bucket: SendBucket,
    pub(super) measured: MeasuredRate,
    cubic: Cubic,
    latest: Latest,
}

impl Limiter {
    /// A limiter that begins to measure now.
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            enabled: false,
            bucket: SendBucket::new(),
            measured: MeasuredRate::new(now),
            cubic: Cubic::new(now),
            latest: Latest::new(now),
        }
    }

    /// Whether there was a throttling.
    pub(super) const fn is_enabled(&self) -> bool {
        self.enabled
    }

    /// Sends per second.
    pub(super) const fn rate(&self) -> f64 {
        self.bucket.fill
    }

    /// Adds what has come in.
    pub(super) fn refill(&mut self, now: Timestamp) {
        self.bucket.refill(now);
    }

    /// How long the bucket, refilled just now, takes to hold this many sends.
    pub(super) fn wait_for(&self, sends: f64) -> Duration {
        self.bucket.wait_for(sends)
    }

    /// How many sends there will be after this time.
    pub(super) fn sends_within(&self, time: Duration) -> f64 {
        self.bucket.capacity + time.as_secs_f64() * self.bucket.fill
    }

    /// Takes one send, for which nobody has to wait any longer.
    pub(super) fn take(&mut self) {
        self.bucket.take();
    }

    /// Puts one send back; what the bucket can't hold is lost.
    pub(super) fn give_back(&mut self) {
        self.bucket.capacity = self.bucket.max_capacity.min(self.bucket.capacity + SEND);
    }

    /// Learns from a response.
    pub(super) fn response(&mut self, now: Timestamp, throttled: bool) {
        let measured = self.measured.update(now);
        let rate = if throttled {
            let rate = if self.enabled { measured.min(self.bucket.fill) } else { measured };
            self.enabled = true;
            self.cubic.throttled(now, rate)
        } else {
            self.cubic.grown(now)
        };
        self.bucket.set_rate(now, capped(rate, measured), MIN_FILL);
    }

    /// Returns the time to use, whatever the order in which threads hand their readings in, and whether the clock went
    /// backwards.
    pub(super) fn observe(&mut self, now: Timestamp) -> (Timestamp, bool) {
        let Observed { now, went_back_to } = self.latest.observe(now);
        if let Some(anchor) = went_back_to {
            self.bucket.last_refill = self.bucket.last_refill.map(|last| last.min(anchor));
            self.measured.reanchor(anchor);
            self.cubic.reanchor(anchor);
        }
        (now, went_back_to.is_some())
    }
}

/// A rate, held close to the measured one.
pub(super) fn capped(rate: f64, measured: f64) -> f64 {
    rate.min(MAX_LEAD * measured)
}
