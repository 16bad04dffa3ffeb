//! What expanded code names. Nothing here is public in any other sense: it may change with every release.

pub use crate::operation::Operation;
pub use crate::time::DEFAULT_TIMER as TIMER;
pub use crate::wait_field::{RetryAfterField, RetryAfterNumber};

use crate::error::RetryInfo;
use crate::operation::{Settled, Wait};
use crate::policy::{RetryDirective, RetryPolicy, StandardRetryPolicy};
use crate::strategy::{Calls, RetryStrategy, Share};
use crate::time::Timer;

/// Takes a strategy that an expression made.
#[inline]
pub fn shared<S>(strategy: S) -> S
where
    Calls: Share<S>,
{
    strategy
}

/// Takes a strategy that a path names: a static. A `const` would be a fresh strategy wherever it is named.
#[inline]
pub const fn named<S: RetryStrategy>(strategy: &'static S) -> &'static S {
    strategy
}

/// Gives an expression the type of an outcome. It is never called.
#[cold]
pub fn unreached<R>() -> R {
    unreachable!("expanded code names the type of its outcome, and never asks for one")
}

/// What a `mut` argument starts from in each attempt.
#[inline]
pub fn anew<T: Anew>(argument: &T) -> T {
    *argument
}

/// An argument that can be had again and again.
#[diagnostic::on_unimplemented(
    message = "a `mut` argument starts anew in each attempt, and `{Self}` can't be copied for that",
    label = "needed by the next attempt, too",
    note = "name the argument in `clone(...)`: `#[retryable(strategy = ..., clone(argument))]`"
)]
pub trait Anew: Copy {}

impl<T: Copy> Anew for T {}

/// Begins an operation.
#[inline]
pub fn begin<S: RetryStrategy, T: Timer>(strategy: &S, timer: &T) -> Operation<S::Token> {
    Operation::begin(strategy, timer)
}

/// What is to be waited for before asking again; `None` once the attempt is due.
#[inline]
pub fn wait<'a, S: RetryStrategy, T: Timer>(
    operation: &'a mut Operation<S::Token>,
    strategy: &'a S,
    timer: &T,
) -> Option<impl Future<Output = ()> + use<'a, S, T>> {
    Wait::next(operation, strategy, timer)
}

/// What the standard policy makes of an outcome.
#[inline]
pub fn judge<R: Judged>(outcome: &R, policy: &StandardRetryPolicy) -> RetryDirective {
    outcome.judged_by(policy)
}

/// What a policy makes of an outcome.
#[inline]
pub fn judge_with<R, P: RetryPolicy<R>>(outcome: &R, policy: &P) -> RetryDirective {
    policy.evaluate(outcome)
}

/// What a closure makes of an outcome. The outcome comes first, so that the closure's argument needs no type.
#[inline]
pub fn judge_by<R>(outcome: &R, policy: impl Fn(&R) -> RetryDirective) -> RetryDirective {
    policy(outcome)
}

/// Tells the strategy what an attempt came to; `true` if its outcome is final.
#[inline]
pub fn settle<S: RetryStrategy, T: Timer>(
    operation: &mut Operation<S::Token>,
    strategy: &S,
    directive: RetryDirective,
    timer: &T,
    name: &'static str,
) -> bool {
    matches!(operation.settle(strategy, directive, timer, name), Settled::Done { .. })
}

/// An outcome that the standard policy can judge.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not tell a failure from a success",
    label = "a retried function returns a `Result`",
    note = "return a `Result<T, E>` whose `E` implements `RetryInfo`"
)]
pub trait Judged {
    /// What the policy makes of it.
    fn judged_by(&self, policy: &StandardRetryPolicy) -> RetryDirective;
}

impl<T, E: RetryInfo> Judged for Result<T, E> {
    #[inline]
    fn judged_by(&self, policy: &StandardRetryPolicy) -> RetryDirective {
        policy.evaluate(self)
    }
}

/// The field that a transparent error takes its answers from. If it has none to give, this is what rustc complains of,
/// and nothing else.
#[inline]
pub fn inner<E: RetryInfo>(field: &E) -> &dyn RetryInfo {
    field
}
