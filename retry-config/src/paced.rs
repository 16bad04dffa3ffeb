//! The settings and methods of a configured strategy for the mode `paced`.

use super::ConfiguredStrategy;
use super::parts::ConfigLimiter;
use retry_core::backoff::BackoffStrategy;
use retry_core::quota::RetryQuota;
use retry_core::time::Clock;
use retry_limits::{PacedAnswers, PacedLimiter, PacedStrategy, Rejections, SendRate};
use std::time::Duration;

impl<B: BackoffStrategy, Q: RetryQuota, L: ConfigLimiter> ConfiguredStrategy<B, Q, L> {
    /// Returns whether the mode `paced` begins with a ramp.
    pub fn paced_ramp(&self) -> bool {
        self.resolved().pace().has_ramp
    }

    /// Returns the time after which an operation that is throttled gives up in the mode `paced`.
    pub fn paced_max_throttled_time(&self) -> Duration {
        self.resolved().pace().max_throttled_time
    }

    /// Returns which failures are rejections in the mode `paced`.
    pub fn paced_rejections(&self) -> Rejections {
        self.resolved().pace().rejections
    }

    /// Returns the limit on sends per second in the mode `paced`, if one is set.
    pub fn paced_max_rate(&self) -> Option<f64> {
        self.resolved().pace().max_rate.map(SendRate::get)
    }

    /// Returns the burst of that limit in the mode `paced`: the sends that may be made at once. At most 1 is none.
    pub fn paced_burst(&self) -> u32 {
        self.resolved().pace().burst
    }

    /// Returns the rate at which the ramp begins in the mode `paced`, in sends per second, if it is set.
    pub fn paced_initial_rate(&self) -> Option<f64> {
        self.resolved().pace().initial_rate.map(SendRate::get)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> ConfiguredStrategy<B, Q> {
    /// Sends at an external rate, while the mode is `paced`; see
    /// [`PacedRetryStrategy::pace_at`](retry_limits::PacedRetryStrategy::pace_at).
    pub fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        self.limited.limiter().paced().pace_at(rate, is_cut, clock)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> ConfiguredStrategy<B, Q, PacedLimiter> {
    /// Sends at an external rate; see
    /// [`PacedRetryStrategy::pace_at`](retry_limits::PacedRetryStrategy::pace_at).
    pub fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        self.limited.limiter().pace_at(rate, is_cut, clock)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> PacedStrategy for ConfiguredStrategy<B, Q> {
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        self.pace_at(rate, is_cut, clock)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> PacedStrategy for ConfiguredStrategy<B, Q, PacedLimiter> {
    fn pace_at(&self, rate: Option<f64>, is_cut: bool, clock: &dyn Clock) -> PacedAnswers {
        self.pace_at(rate, is_cut, clock)
    }
}
