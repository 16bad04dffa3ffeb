//! What an attempt used of a limit on weights, from a closure.

use crate::policy::{NoAnswer, RetryDirective, RetryPolicy, Unanswered, Usage};
use std::error::Error;
use std::fmt;

/// The policy of a call with [`used`](super::Retry::used).
#[derive(Clone, Copy)]
pub struct UsedPolicy<P, U> {
    pub(super) policy: P,
    pub(super) used: U,
}

impl<P: fmt::Debug, U> fmt::Debug for UsedPolicy<P, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UsedPolicy").field("policy", &self.policy).finish_non_exhaustive()
    }
}

impl<R, W: Into<Usage>, P: RetryPolicy<R>, U: Fn(&R) -> W> RetryPolicy<R> for UsedPolicy<P, U> {
    fn evaluate(&self, outcome: &R) -> RetryDirective {
        self.policy.evaluate(outcome)
    }

    fn unknown_error<'o>(&self, outcome: &'o R) -> Option<&'o (dyn Error + 'static)> {
        self.policy.unknown_error(outcome)
    }

    fn usage(&self, outcome: &R) -> Option<Usage> {
        Some((self.used)(outcome).into())
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.policy.is_idempotent()
    }

    #[inline]
    fn __moved(&self, outcome: R) -> R {
        self.policy.__moved(outcome)
    }

    fn __text(&self, outcome: &R) -> Option<String> {
        self.policy.__text(outcome)
    }

    fn __no_answer(&self, failure: NoAnswer) -> Unanswered<R> {
        self.policy.__no_answer(failure)
    }
}
