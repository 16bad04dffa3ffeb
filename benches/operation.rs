//! The operation itself, which is ready at once and does next to nothing, so that what is measured is the rest.

use retry_core::{RetryInfo, TimedOut};
use std::cell::Cell;
use std::hint::black_box;

/// Why the operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, RetryInfo)]
pub enum StoreError {
    /// Too many requests.
    #[retry(throttling)]
    SlowDown,
    /// It isn't there.
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

/// What the operation ends with.
pub type Outcome = Result<u64, StoreError>;

/// One attempt. It succeeds for every number but the largest.
///
/// # Errors
///
/// [`StoreError::NoSuchKey`] for [`u64::MAX`].
pub async fn attempt(number: u64) -> Outcome {
    let number = black_box(number);
    if number == u64::MAX { Err(StoreError::NoSuchKey) } else { Ok(number) }
}

/// One attempt that fails if none failed before it.
///
/// # Errors
///
/// [`StoreError::SlowDown`], the first time.
pub async fn flaky(number: u64, failed: &Cell<bool>) -> Outcome {
    if black_box(failed).replace(true) { attempt(number).await } else { Err(StoreError::SlowDown) }
}

/// The operation as its author wrote it, before anything is retried.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn bare(number: u64) -> Outcome {
    attempt(number).await
}

/// A failure and a success without any retry layer: two attempts and a branch.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn bare_flaky(number: u64, failed: &Cell<bool>) -> Outcome {
    match flaky(number, failed).await {
        Ok(number) => Ok(number),
        Err(_) => flaky(number, failed).await,
    }
}
