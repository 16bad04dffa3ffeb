//! Delays that grow by a step.

use super::BackoffStrategy;
use super::jitter::{Jitter, Jittered, jitter_settings};
use crate::policy::RetryErrorType;
use std::time::Duration;

/// Longer by the same step each time, up to a cap: `min(step * (i + 1), cap)` before retry `i`, which is 0 for the first
/// one, with [full jitter](Jitter::Full) unless you say otherwise.
///
/// It gives a struggling server less time to recover than [`ExponentialBackoff`](crate::ExponentialBackoff) does.
#[derive(Debug)]
pub struct LinearBackoff {
    step: Duration,
    cap: Duration,
    jittered: Jittered,
}

impl LinearBackoff {
    /// Delays of `step`, twice `step` and so on, never above `cap`.
    pub const fn new(step: Duration, cap: Duration) -> Self {
        Self { step, cap, jittered: Jittered::new(Jitter::Full) }
    }

    jitter_settings!();

    /// Returns what is added for each retry.
    pub const fn step(&self) -> Duration {
        self.step
    }

    /// Returns the longest delay of all.
    pub const fn cap(&self) -> Duration {
        self.cap
    }
}

impl BackoffStrategy for LinearBackoff {
    fn compute_next_backoff_delay(&self, retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        self.jittered.apply(self.step.saturating_mul(retry_attempt.saturating_add(1)).min(self.cap))
    }

    fn max_backoff(&self) -> Duration {
        self.cap
    }
}
