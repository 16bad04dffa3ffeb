//! The operation, retried by other crates with their defaults where they have any. None of them has a quota.

use crate::operation::{Outcome, StoreError, attempt, flaky};
use backon::{ExponentialBuilder, Retryable};
use std::cell::Cell;
use std::future::{Ready, ready};
use tokio_retry::strategy::{ExponentialBackoff, jitter};
use tower::retry::{Policy, Retry};
use tower::{Service, service_fn};

/// backon, exponential backoff.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn backon(number: u64) -> Outcome {
    (|| attempt(number)).retry(ExponentialBuilder::default()).await
}

/// backon, with a sleeper that is ready at once: one failure, then a success.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn flaky_backon(number: u64, failed: &Cell<bool>) -> Outcome {
    (|| flaky(number, failed)).retry(ExponentialBuilder::default()).sleep(|_| ready(())).await
}

/// tokio-retry, exponential backoff with jitter, four retries.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn tokio_retry(number: u64) -> Outcome {
    tokio_retry::Retry::start(ExponentialBackoff::from_millis(2).factor(500).map(jitter).take(4), || attempt(number))
        .await
}

/// A tower policy of four retries, without a budget and without delays.
#[derive(Clone, Copy, Debug)]
struct Attempts {
    left: u32,
}

impl Policy<u64, u64, StoreError> for Attempts {
    type Future = Ready<()>;

    fn retry(&mut self, _number: &mut u64, outcome: &mut Outcome) -> Option<Self::Future> {
        outcome.as_ref().err()?;
        self.left = self.left.checked_sub(1)?;
        Some(ready(()))
    }

    fn clone_request(&mut self, number: &u64) -> Option<u64> {
        Some(*number)
    }
}

/// tower's retry layer around a service that is always ready.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn tower(number: u64) -> Outcome {
    Retry::new(Attempts { left: 4 }, service_fn(attempt)).call(number).await
}
