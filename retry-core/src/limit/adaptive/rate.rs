//! The measured rate of responses, and the rate at which to send. Both are pure arithmetic.

use crate::time::Timestamp;

/// The factor by which a throttling cuts the rate.
const BETA: f64 = 0.7;
/// The scale of the curve along which the rate grows.
const SCALE: f64 = 0.4;
/// The weight of the newest measurement.
const SMOOTHING: f64 = 0.8;
/// The interval over which responses are counted, in seconds.
const INTERVAL: f64 = 0.5;

/// The rate at which responses come in, as a moving average over half-second intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredRate {
    /// Responses per second.
    pub(super) rate: f64,
    /// The number of the interval in which the rate was last updated.
    interval: u64,
    /// The number of responses since that update.
    count: u32,
}

impl MeasuredRate {
    pub(super) fn new(now: Timestamp) -> Self {
        Self { rate: 0.0, interval: interval(now), count: 0 }
    }

    /// Counts a response, and returns the rate per second.
    #[inline]
    pub(super) fn update(&mut self, now: Timestamp) -> f64 {
        self.count = self.count.saturating_add(1);
        let interval = interval(now);
        if interval > self.interval {
            // A number of intervals that is not exact as f64 means years without a response, or a wrong clock. The rate
            // is about 0 then, which is correct.
            #[expect(clippy::cast_precision_loss, reason = "there are few intervals between two responses")]
            let elapsed = (interval - self.interval) as f64 * INTERVAL;
            self.rate = SMOOTHING * f64::from(self.count) / elapsed + (1.0 - SMOOTHING) * self.rate;
            self.count = 0;
            self.interval = interval;
        }
        self.rate
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.interval = self.interval.min(interval(now));
    }
}

/// Returns the number of the interval that contains a point in time.
fn interval(at: Timestamp) -> u64 {
    let since = at.since_origin();
    since.as_secs().saturating_mul(2).saturating_add(u64::from(since.subsec_millis() >= 500))
}

/// No value of the curve was computed: it is below all of them.
const NONE: f64 = f64::NEG_INFINITY;

/// The rate at which to send. Each throttling cuts it. Between throttlings it grows along the curve of TCP CUBIC
/// (RFC 9438), which is flat near the rate of the last throttling and becomes steeper beyond it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cubic {
    /// The rate at the last throttling, before the cut. The name is that of the RFC.
    w_max: f64,
    /// The time in seconds in which the curve returns to that rate. The name is that of the RFC.
    k: f64,
    last_throttle: Timestamp,
    /// The latest value of the curve that was computed since the last throttling, or [`NONE`].
    reached: f64,
}

impl Cubic {
    pub(super) const fn new(now: Timestamp) -> Self {
        Self { w_max: 0.0, k: 0.0, last_throttle: now, reached: NONE }
    }

    /// Handles a throttling at this rate, and returns the rate after the cut.
    pub(super) fn throttled(&mut self, now: Timestamp, rate: f64) -> f64 {
        self.w_max = rate;
        // Unlike `powf(1.0 / 3.0)`, `cbrt` is also defined for negative numbers.
        self.k = (rate * (1.0 - BETA) / SCALE).cbrt();
        self.last_throttle = now;
        self.reached = NONE;
        BETA * rate
    }

    /// Returns the rate at a response that was not throttled: `SCALE * (elapsed - k)^3 + w_max`, but at most `most`.
    ///
    /// The curve only rises. So once it has reached `most`, it need not be computed.
    #[inline]
    pub(super) fn grown_up_to(&mut self, now: Timestamp, most: f64) -> f64 {
        if self.reached < most {
            let elapsed = now.saturating_since(self.last_throttle).as_secs_f64();
            self.reached = SCALE * (elapsed - self.k).powi(3) + self.w_max;
        }
        self.reached.min(most)
    }

    /// Continues from an earlier time, because the clock was set back.
    pub(super) fn reanchor(&mut self, now: Timestamp) {
        self.last_throttle = self.last_throttle.min(now);
        self.reached = NONE;
    }
}
