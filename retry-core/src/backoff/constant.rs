//! The same delay before each retry, or none.

use super::BackoffStrategy;
use super::jitter::{Jitter, Jittered, jitter_settings};
use crate::policy::RetryErrorType;
use std::time::Duration;

/// The same delay each time, to the letter: without jitter unless you say otherwise.
#[derive(Debug)]
pub struct ConstantBackoff {
    delay: Duration,
    jittered: Jittered,
}

impl ConstantBackoff {
    /// The same delay before every retry.
    pub const fn new(delay: Duration) -> Self {
        Self { delay, jittered: Jittered::new(Jitter::None) }
    }

    jitter_settings!();

    /// Returns the delay.
    pub const fn delay(&self) -> Duration {
        self.delay
    }
}

impl BackoffStrategy for ConstantBackoff {
    fn compute_next_backoff_delay(&self, _retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        self.jittered.apply(self.delay)
    }

    fn max_backoff(&self) -> Duration {
        self.delay
    }
}

/// No wait before a retry, unless the server asks for one.
///
/// Clients that fail together come back together then, so it is for tests and for callers that are alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoBackoff;

impl BackoffStrategy for NoBackoff {
    fn compute_next_backoff_delay(&self, _retry_attempt: u32, _error_type: RetryErrorType) -> Duration {
        Duration::ZERO
    }

    fn max_backoff(&self) -> Duration {
        Duration::ZERO
    }
}
