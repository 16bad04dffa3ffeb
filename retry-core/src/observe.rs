//! What happened to an operation: the report, and events for `tracing`.
//!
//! A success at the first attempt is no event.

use crate::strategy::{Failure, RetryError};
use std::time::Duration;

/// What became of one operation: all that the outcome alone doesn't tell.
///
/// [`Retry::report`](crate::Retry::report) gives one.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report<R> {
    /// The last outcome, untouched.
    pub outcome: R,
    /// How many attempts were made, at least one.
    pub attempts: u32,
    /// Why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The time from the first poll to the last outcome, waits included, by the clock of the timer.
    pub elapsed: Duration,
}

/// The target of all events.
#[cfg(feature = "tracing")]
const TARGET: &str = "retry_core";

#[cfg(feature = "tracing")]
fn error_type(failure: &Failure) -> &'static str {
    failure.error_type().map_or("unknown", crate::policy::RetryErrorType::as_str)
}

/// The strategy gave no initial token: one attempt was made, without retries.
#[cold]
pub(crate) fn refused(operation: &'static str, reason: RetryError) {
    #[cfg(feature = "tracing")]
    tracing::warn!(name: "refused", target: TARGET, operation, reason = reason.as_str(), "no initial token");
    #[cfg(not(feature = "tracing"))]
    let _ = (operation, reason);
}

/// An attempt failed, and another one follows after the delay.
pub(crate) fn retry_scheduled(operation: &'static str, attempt: u32, failure: &Failure, delay: Duration) {
    #[cfg(feature = "tracing")]
    tracing::debug!(
        name: "retry_scheduled",
        target: TARGET,
        operation,
        attempt,
        error_type = error_type(failure),
        delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
        "retry scheduled"
    );
    #[cfg(not(feature = "tracing"))]
    let _ = (operation, attempt, failure, delay);
}

/// The last attempt failed.
pub(crate) fn stopped(operation: &'static str, attempts: u32, failure: &Failure, reason: RetryError) {
    #[cfg(feature = "tracing")]
    {
        let error_type = error_type(failure);
        let expected = reason == RetryError::NotRetryable;
        let reason = reason.as_str();
        if expected {
            tracing::debug!(name: "stopped", target: TARGET, operation, attempts, error_type, reason, "stopped");
        } else {
            tracing::warn!(name: "stopped", target: TARGET, operation, attempts, error_type, reason, "stopped");
        }
    }
    #[cfg(not(feature = "tracing"))]
    let _ = (operation, attempts, failure, reason);
}

/// A retry succeeded, or a success could not be recorded, because the strategy did not know its token.
#[cold]
pub(crate) fn succeeded(operation: &'static str, attempts: u32, foreign_token: bool) {
    #[cfg(feature = "tracing")]
    if foreign_token {
        let reason = RetryError::ForeignToken.as_str();
        tracing::warn!(name: "not_recorded", target: TARGET, operation, attempts, reason, "success not recorded");
    } else {
        tracing::debug!(name: "succeeded", target: TARGET, operation, attempts, "succeeded");
    }
    #[cfg(not(feature = "tracing"))]
    let _ = (operation, attempts, foreign_token);
}
