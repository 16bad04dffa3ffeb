//! What a backoff can know about a retry.

use crate::policy::RetryErrorType;
use std::time::Duration;

/// What is known about a retry when its delay is computed, for
/// [`BackoffStrategy::delay_in_context`](super::BackoffStrategy::delay_in_context).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackoffContext {
    /// The number of earlier retries of the operation, of the same kind, as in
    /// [`compute_next_backoff_delay`](super::BackoffStrategy::compute_next_backoff_delay).
    pub retry_attempt: u32,
    /// The class of the failure.
    pub error_type: RetryErrorType,
    /// The wait that the server asks for, if it asks for one. It is not cut to any limit.
    pub retry_after: Option<Duration>,
    /// The delay before the attempt that failed: of the backoff, or a wait that the server asked for. It is zero for the first retry of an
    /// operation.
    pub previous_delay: Duration,
}

impl BackoffContext {
    /// Creates the context of a retry whose server asks for no wait, and whose previous delay was zero. To change these, set the fields.
    pub const fn new(retry_attempt: u32, error_type: RetryErrorType) -> Self {
        Self { retry_attempt, error_type, retry_after: None, previous_delay: Duration::ZERO }
    }
}
