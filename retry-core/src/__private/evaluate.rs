//! Functions with which the expansion of `#[retryable]` evaluates an outcome, and the outcomes that a policy can
//! evaluate.

use super::accepted::{AcceptedDirective, AcceptedUsage};
use crate::error::RetryInfo;
use crate::operation::{Call, OptionalObserver, Outcome, RunningLimits, StateOf, explored};
use crate::policy::{NoAnswer, RetryDirective, RetryPolicy, StandardRetryPolicy, Unanswered, Usage, policy_fn};
use crate::strategy::RetryStrategy;
use crate::time::Clock;

/// Evaluates an outcome by the standard policy.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn evaluate<R: Evaluable>(outcome: &Outcome<R>) -> RetryDirective {
    evaluate_standard(outcome, StandardRetryPolicy::new())
}

/// Evaluates an outcome by the standard policy of an operation that is idempotent or not.
#[inline]
pub fn evaluate_idempotent<R: Evaluable>(outcome: &Outcome<R>, idempotent: bool) -> RetryDirective {
    evaluate_standard(outcome, StandardRetryPolicy::new().idempotent(idempotent))
}

#[cfg_attr(not(debug_assertions), inline(always))]
fn evaluate_standard<R: Evaluable>(outcome: &Outcome<R>, policy: StandardRetryPolicy) -> RetryDirective {
    explored::evaluated(outcome, |outcome| outcome.evaluated_by(&policy), |failure| R::no_answer(&policy, failure))
}

/// Evaluates an outcome by a policy. The first unknown error of a function is reported.
#[inline]
pub fn evaluate_with<R, P, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    outcome: &Outcome<R>,
    policy: &P,
) -> RetryDirective
where
    P: RetryPolicy<R>,
{
    call.evaluate(operation, policy, outcome)
}

/// Evaluates an outcome by a closure, as [`evaluate_with`] does. The outcome comes first, so that the closure's argument
/// needs no type.
#[inline]
pub fn evaluate_by<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    outcome: &Outcome<R>,
    policy: impl Fn(&R) -> RetryDirective,
) -> RetryDirective {
    call.evaluate(operation, &policy_fn(policy), outcome)
}

/// Returns the directive that a closure returns. The macro calls this for a value that looks like a `bool`.
#[inline]
pub fn directive<D: AcceptedDirective>(directive: D) -> RetryDirective {
    directive.accept()
}

/// Tells the strategy what the attempt used of a limit on weights, and returns the same directive.
#[inline]
pub fn used_by<R, S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    directive: RetryDirective,
    operation: &mut StateOf<S, L, O>,
    outcome: &Outcome<R>,
    used: impl FnOnce(&R) -> Usage,
) -> RetryDirective {
    if let Some(outcome) = explored::value(outcome) {
        operation.used(call.strategy, used(outcome));
    }
    directive
}

/// Calls the value of `used`. The outcome comes first, so that a closure's argument needs no type.
#[inline]
pub fn used<R, U: AcceptedUsage>(outcome: &R, used: impl FnOnce(&R) -> U) -> Usage {
    used(outcome).accept()
}

/// An outcome that the standard policy can evaluate. It is [`Fallible`] by definition, so that rustc reports only one
/// of the two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not distinguish a failure from a success",
    label = "a retried function returns a `Result`",
    note = "return a `Result<T, E>` whose `E` implements `RetryInfo`"
)]
pub trait Evaluable: Fallible {
    /// Returns the policy's directive for this outcome.
    fn evaluated_by(&self, policy: &StandardRetryPolicy) -> RetryDirective;

    /// Returns what the policy makes of a failure of an exploration.
    fn no_answer(policy: &StandardRetryPolicy, failure: NoAnswer) -> Unanswered<Self>
    where
        Self: Sized;
}

impl<T, E: RetryInfo> Evaluable for Result<T, E> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn evaluated_by(&self, policy: &StandardRetryPolicy) -> RetryDirective {
        policy.evaluate(self)
    }

    fn no_answer(policy: &StandardRetryPolicy, failure: NoAnswer) -> Unanswered<Self> {
        policy.__no_answer(failure)
    }
}

/// An outcome that can have an error.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no error for `on_retry`",
    label = "a function with `on_retry` returns a `Result`",
    note = "return a `Result<T, E>`; or write `observer = OBSERVER`, which gets each event and no error"
)]
pub trait Fallible {
    /// The error.
    type Error;

    /// Returns the error of a failure.
    fn error(&self) -> Option<&Self::Error>;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;

    #[inline]
    fn error(&self) -> Option<&E> {
        self.as_ref().err()
    }
}
