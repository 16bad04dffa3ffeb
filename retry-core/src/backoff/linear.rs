//! A backoff whose delays grow by a constant step.

use super::BackoffStrategy;
use super::arithmetic::nanos;
use super::jitter::{Jitter, Jittered, jitter_settings};
use crate::policy::RetryErrorType;
use std::time::Duration;

/// A backoff whose delays grow by a constant step up to a cap.
///
/// The delay before retry `i` is `min(step * (i + 1), cap)`, to which jitter is applied. The first retry has `i = 0`.
/// The default is [full jitter](Jitter::Full).
///
/// It gives an overloaded server less time to recover than [`ExponentialBackoff`](crate::ExponentialBackoff) does.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::backoff::LinearBackoff;
/// use retry_core::{BackoffStrategy, Jitter, RetryErrorType};
///
/// let backoff = LinearBackoff::new(Duration::from_secs(1), Duration::from_secs(3))
///     .jitter(Jitter::None);
/// let delay = |i| backoff.compute_next_backoff_delay(i, RetryErrorType::Other).as_secs();
/// let delays = [0, 1, 2, 3].map(delay);
/// assert_eq!(delays, [1, 2, 3, 3]);
/// ```
#[derive(Debug)]
pub struct LinearBackoff {
    step: Duration,
    cap: Duration,
    jittered: Jittered,
}

impl LinearBackoff {
    /// Creates a backoff whose delays are `step`, `2 * step`, `3 * step`, .., and never exceed `cap`.
    pub const fn new(step: Duration, cap: Duration) -> Self {
        Self { step, cap, jittered: Jittered::new(Jitter::Full) }
    }

    jitter_settings!();

    /// Returns the step: the first delay, and the difference between one delay and the next.
    pub const fn step(&self) -> Duration {
        self.step
    }

    /// Returns the cap: the longest delay before any retry.
    pub const fn cap(&self) -> Duration {
        self.cap
    }
}

impl BackoffStrategy for LinearBackoff {
    #[inline]
    fn compute_next_backoff_delay(&self, retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        let delay = self.step.saturating_mul(retry_attempt).saturating_add(self.step).min(self.cap);
        self.jittered.apply(nanos(delay))
    }

    fn max_backoff(&self) -> Duration {
        self.cap
    }

    fn random_part(&self, most: Duration) -> Duration {
        self.jittered.random_part(most)
    }
}
