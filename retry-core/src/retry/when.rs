//! The policy made from closures that classify errors.

use crate::policy::{RetryDirective, RetryErrorType, RetryPolicy};
use std::time::Duration;

/// The policy that [`Retry::when`](crate::Retry::when) and [`Retry::retry_after`](crate::Retry::retry_after) create
/// from closures.
#[derive(Clone, Copy, Debug)]
pub struct WhenPolicy<W, H = NoRetryAfter> {
    pub(super) when: W,
    pub(super) retry_after: H,
    pub(super) idempotent: Option<bool>,
}

/// The absence of a closure for [`Retry::retry_after`](crate::Retry::retry_after).
#[derive(Clone, Copy, Debug)]
pub struct NoRetryAfter;

impl<O, E, W: Fn(&E) -> bool> RetryPolicy<Result<O, E>> for WhenPolicy<W> {
    fn evaluate(&self, outcome: &Result<O, E>) -> RetryDirective {
        evaluate(outcome, &self.when, |_| None)
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.idempotent
    }
}

impl<O, E, W, H> RetryPolicy<Result<O, E>> for WhenPolicy<W, H>
where
    W: Fn(&E) -> bool,
    H: Fn(&E) -> Option<Duration>,
{
    fn evaluate(&self, outcome: &Result<O, E>) -> RetryDirective {
        evaluate(outcome, &self.when, &self.retry_after)
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.idempotent
    }
}

fn evaluate<O, E>(
    outcome: &Result<O, E>,
    when: impl Fn(&E) -> bool,
    retry_after: impl Fn(&E) -> Option<Duration>,
) -> RetryDirective {
    match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(error) if when(error) => RetryDirective::retry(RetryErrorType::Other).after(retry_after(error)),
        Err(error) => RetryDirective::fail(Some(RetryErrorType::Other)).after(retry_after(error)),
    }
}
