//! What a strategy is told of an attempt that did not succeed.

use crate::error::RetryInfo;
use crate::policy::{RetryDirective, RetryErrorType, StandardRetryPolicy};
use crate::strategy::Switch;
use std::time::Duration;

/// What a strategy is told of an attempt that did not succeed.
///
/// When driving a strategy by hand, make one from the error with [`Failure::of`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    retryable: bool,
    error_type: Option<RetryErrorType>,
    retry_after: Option<Duration>,
    remaining: Option<Duration>,
    retries_enabled: bool,
}

impl Failure {
    /// Returns what the [standard policy](StandardRetryPolicy) makes of this error.
    pub fn of<E: RetryInfo + ?Sized>(error: &E) -> Self {
        Self::from_directive(StandardRetryPolicy::new().evaluate_error(error))
    }

    /// Creates a failure from what a policy made of an outcome. An outcome that the policy calls a success is no reason
    /// to retry either.
    pub const fn from_directive(directive: RetryDirective) -> Self {
        let (retryable, error_type, retry_after) = match directive {
            RetryDirective::Succeed { .. } => (false, None, None),
            RetryDirective::Fail { error_type, retry_after } => (false, error_type, retry_after),
            RetryDirective::Retry { error_type, retry_after } => (true, Some(error_type), retry_after),
        };
        Self { retryable, error_type, retry_after, remaining: None, retries_enabled: true }
    }

    /// Adds how much time the operation has left.
    #[must_use]
    pub const fn with_remaining(mut self, remaining: Option<Duration>) -> Self {
        self.remaining = remaining;
        self
    }

    /// Says whether retries are switched on, as they are unless this says otherwise.
    #[must_use]
    pub const fn with_retries_enabled(mut self, enabled: bool) -> Self {
        self.retries_enabled = enabled;
        self
    }

    /// The same, with retries off if this switch is.
    #[inline]
    pub(crate) fn switched_by(self, switch: &Switch) -> Self {
        self.with_retries_enabled(self.retries_enabled && switch.is_on())
    }

    /// Returns whether another attempt makes sense at all.
    pub const fn is_retryable(&self) -> bool {
        self.retryable
    }

    /// Returns the class of the failure. A retryable failure always has one.
    pub const fn error_type(&self) -> Option<RetryErrorType> {
        self.error_type
    }

    /// Returns the shortest wait that the server asked for. A failure that is not retryable may have one too.
    pub const fn retry_after(&self) -> Option<Duration> {
        self.retry_after
    }

    /// Returns how much time the operation has left; `None` without a limit. No wait may end after it.
    pub const fn remaining(&self) -> Option<Duration> {
        self.remaining
    }

    /// Returns whether retries are switched on. If not, a strategy grants none, with
    /// [`RetryError::Disabled`](crate::RetryError::Disabled), but goes on learning.
    pub const fn retries_enabled(&self) -> bool {
        self.retries_enabled
    }
}
