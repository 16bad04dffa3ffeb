//! Backoffs with the same delay before each retry, or without a delay.

use super::BackoffStrategy;
use super::arithmetic::nanos;
use super::jitter::{Jitter, Jittered, jitter_settings};
use crate::policy::RetryErrorType;
use std::time::Duration;

/// A backoff with the same delay before each retry. The default is [no jitter](Jitter::None).
#[derive(Debug)]
pub struct ConstantBackoff {
    delay: Duration,
    jittered: Jittered,
}

impl ConstantBackoff {
    /// Creates a backoff with this delay before each retry.
    pub const fn new(delay: Duration) -> Self {
        Self { delay, jittered: Jittered::new(Jitter::None) }
    }

    jitter_settings!();

    /// Returns the delay, without jitter.
    pub const fn delay(&self) -> Duration {
        self.delay
    }
}

impl BackoffStrategy for ConstantBackoff {
    #[inline]
    fn compute_next_backoff_delay(&self, _retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        self.jittered.apply(nanos(self.delay))
    }

    fn max_backoff(&self) -> Duration {
        self.delay
    }

    fn random_part(&self, most: Duration) -> Duration {
        self.jittered.random_part(most)
    }
}

/// A backoff without delays: a retry only waits if the server asks for it.
///
/// Clients that failed at the same time also retry at the same time. Use it in tests, or if there is only one client.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBackoff;

impl BackoffStrategy for NoBackoff {
    #[inline]
    fn compute_next_backoff_delay(&self, _retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        Duration::ZERO
    }

    fn max_backoff(&self) -> Duration {
        Duration::ZERO
    }

    fn random_part(&self, _most: Duration) -> Duration {
        Duration::ZERO
    }
}
