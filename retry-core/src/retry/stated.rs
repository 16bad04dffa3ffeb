//! The policy of a call, or of a layer, that says whether it is idempotent. It can't be replaced: what was said would be lost, and a write made twice.

use crate::policy::{NoAnswer, RetryDirective, RetryPolicy, StandardRetryPolicy, Unanswered, Usage};
use std::error::Error;

/// The standard policy of a call, or of the requests of a layer, with `idempotent`.
#[derive(Clone, Copy, Debug)]
pub struct Stated(StandardRetryPolicy);

#[diagnostic::do_not_recommend]
impl<R> RetryPolicy<R> for Stated
where
    StandardRetryPolicy: RetryPolicy<R>,
{
    #[inline]
    fn evaluate(&self, outcome: &R) -> RetryDirective {
        self.0.evaluate(outcome)
    }

    fn unknown_error<'o>(&self, outcome: &'o R) -> Option<&'o (dyn Error + 'static)> {
        self.0.unknown_error(outcome)
    }

    fn usage(&self, outcome: &R) -> Option<Usage> {
        self.0.usage(outcome)
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.0.stated_idempotent()
    }

    #[inline]
    fn __may_progress(&self) -> bool {
        false
    }

    #[inline]
    fn __moved(&self, outcome: R) -> R {
        self.0.__moved(outcome)
    }

    fn __text(&self, outcome: &R) -> Option<String> {
        self.0.__text(outcome)
    }

    fn __no_answer(&self, failure: NoAnswer) -> Unanswered<R> {
        self.0.__no_answer(failure)
    }
}

/// The standard policy, with or without a statement.
pub trait Standard: Sized {
    /// Returns it.
    fn standard(self) -> StandardRetryPolicy;

    /// Returns it with the statement.
    fn stated(self, idempotent: bool) -> Stated {
        Stated(self.standard().idempotent(idempotent))
    }
}

impl Standard for StandardRetryPolicy {
    fn standard(self) -> StandardRetryPolicy {
        self
    }
}

impl Standard for Stated {
    fn standard(self) -> StandardRetryPolicy {
        self.0
    }
}

/// A policy that another one may replace.
#[diagnostic::on_unimplemented(
    message = "`policy` would drop what was said before about outcomes",
    label = "`idempotent`, `when`, `used` or another `policy` comes before this",
    note = "say to the policy whether the call is idempotent, as in `.policy(ChainPolicy::new().idempotent(false))`; write `used` after it, and no `when`"
)]
pub trait Replaceable {}

#[diagnostic::do_not_recommend]
impl Replaceable for StandardRetryPolicy {}
