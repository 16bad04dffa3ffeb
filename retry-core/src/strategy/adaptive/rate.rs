//! How fast the client sends, and how fast it should: pure arithmetic.

use crate::time::Timestamp;

/// What a throttled client falls back to: this share of its rate.
const BETA: f64 = 0.7;
/// How steeply the rate grows again.
const SCALE: f64 = 0.4;
/// The weight of the newest measurement.
const SMOOTHING: f64 = 0.8;
/// The interval over which sends are counted, in seconds.
const INTERVAL: f64 = 0.5;

/// The rate at which responses come in, a moving average over half-second intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredRate {
    pub(super) rate: f64,
    /// The interval of the last response.
    interval: u64,
    /// Responses since the interval began.
    count: u32,
}

impl MeasuredRate {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { rate: 0.0, interval: interval(now), count: 0 }
    }

    /// Counts a response, and gives the rate per second.
    pub(super) fn update(&mut self, now: Timestamp) -> f64 {
        self.count = self.count.saturating_add(1);
        let interval = interval(now);
        if interval > self.interval {
            // More intervals than an f64 can tell apart are a clock that is off; the rate is 0 then, and rightly so.
            #[expect(clippy::cast_precision_loss, reason = "a few intervals lie between two responses")]
            let elapsed = (interval - self.interval) as f64 * INTERVAL;
            self.rate = SMOOTHING * f64::from(self.count) / elapsed + (1.0 - SMOOTHING) * self.rate;
            self.count = 0;
            self.interval = interval;
        }
        self.rate
    }

    /// The clock went backwards.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.interval = self.interval.min(interval(now));
    }
}

/// The number of the interval that a point lies in.
fn interval(at: Timestamp) -> u64 {
    let since = at.since_origin();
    since.as_secs().saturating_mul(2).saturating_add(u64::from(since.subsec_millis() >= 500))
}

/// The rate that a client should send at: cut by each throttling, and growing from there, along the curve that TCP
/// CUBIC uses (RFC 9438): flat where the last throttling struck, ever steeper beyond.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cubic {
    /// The rate at the last throttling, before the cut.
    w_max: f64,
    /// The time in seconds that the curve takes back to it.
    k: f64,
    last_throttle: Timestamp,
}

impl Cubic {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { w_max: 0.0, k: 0.0, last_throttle: now }
    }

    /// The rate after a throttling that struck at this rate.
    pub(super) fn throttled(&mut self, now: Timestamp, rate: f64) -> f64 {
        self.w_max = rate;
        // The cube root is defined for negative numbers as well, which a power of a third is not.
        self.k = (rate * (1.0 - BETA) / SCALE).cbrt();
        self.last_throttle = now;
        BETA * rate
    }

    /// The rate at a response that was not throttled.
    pub(super) fn grown(&self, now: Timestamp) -> f64 {
        let elapsed = now.saturating_since(self.last_throttle).as_secs_f64();
        SCALE * (elapsed - self.k).powi(3) + self.w_max
    }

    /// The clock went backwards.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.last_throttle = self.last_throttle.min(now);
    }
}
