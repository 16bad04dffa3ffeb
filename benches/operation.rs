//! The operation. It is ready at once and does almost nothing, so that the cost of the retry layer is measured.

use retry_core::{RetryInfo, TimedOut};
use std::cell::Cell;
use std::hint::black_box;

/// The error of the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, RetryInfo)]
pub enum StoreError {
    /// Too many requests.
    #[retry(throttling)]
    SlowDown,
    /// The key does not exist.
    #[retry(fault = "client")]
    NoSuchKey,
    /// No answer in time.
    #[retry(timeout)]
    NoAnswer,
}

impl From<TimedOut> for StoreError {
    fn from(_: TimedOut) -> Self {
        Self::NoAnswer
    }
}

/// The outcome of the operation.
pub type Outcome = Result<u64, StoreError>;

/// Makes one attempt, which succeeds for every number except [`u64::MAX`].
///
/// # Errors
///
/// Returns [`StoreError::NoSuchKey`] for [`u64::MAX`].
pub async fn attempt(number: u64) -> Outcome {
    let number = black_box(number);
    if number == u64::MAX { Err(StoreError::NoSuchKey) } else { Ok(number) }
}

/// Makes one attempt, which fails if `failed` is false, and sets `failed`.
///
/// # Errors
///
/// Returns [`StoreError::SlowDown`] the first time, then the errors of [`attempt`].
pub async fn flaky(number: u64, failed: &Cell<bool>) -> Outcome {
    if black_box(failed).replace(true) { attempt(number).await } else { Err(StoreError::SlowDown) }
}

/// The operation without a retry layer.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn bare(number: u64) -> Outcome {
    attempt(number).await
}

/// A failure and a success without a retry layer: two attempts and a branch.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn bare_flaky(number: u64, failed: &Cell<bool>) -> Outcome {
    match flaky(number, failed).await {
        Ok(number) => Ok(number),
        Err(_) => flaky(number, failed).await,
    }
}
