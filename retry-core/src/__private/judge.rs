//! What the expansion of `#[retryable]` names to judge an outcome, and the outcomes that can be judged.

use crate::error::RetryInfo;
use crate::operation::{Call, OperationOf, OptionalObserver, TimeLimits};
use crate::policy::{RetryDirective, RetryPolicy, StandardRetryPolicy, policy_fn};
use crate::strategy::RetryStrategy;
use crate::time::Clock;

/// Returns what the standard policy makes of an outcome.
#[expect(clippy::inline_always, reason = "on the path of each success, and folds away only if it is inlined")]
#[inline(always)]
pub fn judge<R: Judged>(outcome: &R) -> RetryDirective {
    outcome.judged_by(&StandardRetryPolicy::new())
}

/// Returns what the standard policy makes of an outcome, knowing whether the operation is idempotent.
#[inline]
pub fn judge_idempotent<R: Judged>(outcome: &R, idempotent: bool) -> RetryDirective {
    outcome.judged_by(&StandardRetryPolicy::new().idempotent(idempotent))
}

/// Returns what a policy makes of an outcome. The first unknown error of a function is reported.
#[inline]
pub fn judge_with<R, P, S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &OperationOf<S, L, O>,
    outcome: &R,
    policy: &P,
) -> RetryDirective
where
    P: RetryPolicy<R>,
{
    call.evaluate(operation, policy, outcome)
}

/// Returns what a closure makes of an outcome, as [`judge_with`] does. The outcome comes first, so that the closure's
/// argument needs no type.
#[inline]
pub fn judge_by<R, S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &OperationOf<S, L, O>,
    outcome: &R,
    policy: impl Fn(&R) -> RetryDirective,
) -> RetryDirective {
    call.evaluate(operation, &policy_fn(policy), outcome)
}

/// An outcome that the standard policy can judge. It is [`Fallible`] by definition, so that rustc reports one of the
/// two.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not tell a failure from a success",
    label = "a retried function returns a `Result`",
    note = "return a `Result<T, E>` whose `E` implements `RetryInfo`"
)]
pub trait Judged: Fallible {
    /// What the policy makes of it.
    fn judged_by(&self, policy: &StandardRetryPolicy) -> RetryDirective;
}

impl<T, E: RetryInfo> Judged for Result<T, E> {
    #[expect(clippy::inline_always, reason = "on the path of each success, and folds away only if it is inlined")]
    #[inline(always)]
    fn judged_by(&self, policy: &StandardRetryPolicy) -> RetryDirective {
        policy.evaluate(self)
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
