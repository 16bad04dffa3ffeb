//! What expanded code names. Nothing here is public in any other sense: it may change with every release.

pub use crate::answer_field::{ErrorCodeField, HttpStatusField, answered, error_code};
pub use crate::around::Around;
pub use crate::name::FunctionName;
pub use crate::operation::Operation;
pub use crate::source_field::{SourceField, source};
pub use crate::verdict::{SafeField, Said, Verdict, verdict};
pub use crate::wait_field::{RetryAfterField, RetryAfterNumber};

use crate::around::{Began, Watch};
use crate::context::{AttemptContext, ContextNotes};
use crate::error::RetryInfo;
use crate::observe::Observer;
use crate::operation::{Attempt, Deadline, Settled, Wait};
use crate::policy::{RetryDirective, RetryPolicy, StandardRetryPolicy};
use crate::strategy::{Calls, RetryStrategy, RetryToken, Share};
use crate::time::{BlockingTimer, Clock, Timer};
use crate::time_limit::{AttemptTimeout, Limit, Limits, MaxTime, Unlimited};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

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

/// What an argument starts from in each attempt that has a span of its own, into which it is moved.
#[inline]
pub fn into_span<T: IntoSpan>(argument: &T) -> T {
    *argument
}

/// An argument that can be moved into one span after the other.
#[diagnostic::on_unimplemented(
    message = "`#[tracing::instrument]` above `#[retryable]` moves the argument into each attempt, and `{Self}` can't be copied for that",
    label = "needed by the next attempt, too",
    note = "write `#[tracing::instrument]` below `#[retryable]`, for one span around all attempts",
    note = "or name the argument in `clone(...)`: `#[retryable(strategy = ..., clone(argument))]`"
)]
pub trait IntoSpan: Copy {}

impl<T: Copy> IntoSpan for T {}

/// Begins an operation.
#[inline]
pub fn begin<S: RetryStrategy, T: Clock, W: Watch + ?Sized>(
    strategy: &S,
    around: &Around<'_, T, W>,
) -> Operation<S::Token, Unlimited, W::Notes> {
    Operation::begin(strategy, Unlimited, around)
}

/// Begins an operation with limits on its time.
#[inline]
pub fn begin_within<S: RetryStrategy, L: Limit, T: Clock, W: Watch + ?Sized>(
    strategy: &S,
    limits: L,
    around: &Around<'_, T, W>,
) -> Operation<S::Token, L, W::Notes> {
    Operation::begin(strategy, limits, around)
}

/// A limit on each attempt.
#[inline]
pub const fn attempt_timeout(time: Duration) -> AttemptTimeout {
    AttemptTimeout(time)
}

/// A limit on the operation, and perhaps one on each attempt.
#[inline]
pub const fn max_time(time: Duration, attempt_timeout: Option<Duration>) -> MaxTime {
    MaxTime::new(time, attempt_timeout)
}

/// What is to be waited for before asking again; `None` once the attempt is due.
#[inline]
pub fn wait<'a, S: RetryStrategy, L: Limit, T: Timer, W: Watch + ?Sized>(
    operation: &'a mut Operation<S::Token, L, W::Notes>,
    strategy: &'a S,
    around: &Around<'_, T, W>,
) -> Option<Wait<'a, S, T>> {
    Wait::next(operation, strategy, around)
}

/// Blocks the thread until the attempt is due, or says what keeps it from being made.
#[inline]
pub fn block<S: RetryStrategy, L: Limit, T: BlockingTimer, W: Watch + ?Sized>(
    operation: &mut Operation<S::Token, L, W::Notes>,
    strategy: &S,
    around: &Around<'_, T, W>,
) -> Option<L::Cut> {
    operation.block(strategy, around)
}

/// Runs an attempt that blocks.
#[inline]
pub fn call<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// What the attempts of an operation may know of it.
#[inline]
pub fn context() -> ContextNotes {
    ContextNotes::new()
}

/// What the attempt that begins now knows.
#[inline]
pub fn attempt_context<K: RetryToken, L: Limit, N>(
    notes: &ContextNotes,
    operation: &Operation<K, L, N>,
) -> AttemptContext {
    notes.attempt(operation.attempts(), operation.time_left())
}

/// The deadline of the attempt that begins now, and the sleep until then.
#[inline]
pub fn deadline<S: RetryStrategy, L: Limit, T: Timer, W: Watch + ?Sized>(
    operation: &mut Operation<S::Token, L, W::Notes>,
    strategy: &S,
    around: &Around<'_, T, W>,
) -> (Deadline<L::Cut>, Option<L::Sleep<T>>) {
    operation.deadline(strategy, around.timer)
}

/// Runs an attempt that has a deadline.
#[inline]
pub fn attempt<'a, F: Future, S: Future<Output = ()>, C: Copy + Unpin>(
    deadline: Deadline<C>,
    sleep: Pin<&'a mut Option<S>>,
    body: Pin<&'a mut F>,
) -> Attempt<'a, F, S, C> {
    Attempt::new(deadline, sleep, body)
}

/// An attempt was cut: it goes on with the outcome of that, or breaks off with the outcome of the operation.
#[cold]
pub fn cut<R, S: RetryStrategy, L: Limits<R>, T: Clock, W: Watch + ?Sized>(
    operation: &mut Operation<S::Token, L, W::Notes>,
    strategy: &S,
    cut: L::Cut,
    last: &mut L::Last,
    around: &Around<'_, T, W>,
) -> ControlFlow<R, R> {
    operation.cut(strategy, cut, last, around)
}

/// The timer that an expression gives. What is complained of if it is none is this, and not each use of it. Its sleep is
/// named, so that a future that waits for it is known to be `Send`.
#[inline]
pub const fn timer<T: Timer>(timer: &T) -> &(impl Timer<Sleep = T::Sleep> + use<T>) {
    timer
}

/// The timer that an expression gives, where a function blocks.
#[inline]
pub const fn blocking_timer<T: BlockingTimer>(timer: &T) -> &(impl BlockingTimer + use<T>) {
    timer
}

/// The observer that an expression gives, in the same way.
#[inline]
pub const fn observer<O: Observer + ?Sized>(observer: &O) -> &(impl Watch<Notes = Option<Began>> + ?Sized + use<O>) {
    observer
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
pub fn settle<S: RetryStrategy, L: Limit, T: Clock, W: Watch + ?Sized>(
    operation: &mut Operation<S::Token, L, W::Notes>,
    strategy: &S,
    directive: RetryDirective,
    around: &Around<'_, T, W>,
) -> bool {
    matches!(operation.settle(strategy, directive, around), Settled::Done { .. })
}

/// Drops an outcome that another attempt follows, or keeps it in `last`.
#[inline]
pub fn keep<R, S: RetryStrategy, L: Limits<R>, N>(
    operation: &mut Operation<S::Token, L, N>,
    strategy: &S,
    last: &mut L::Last,
    outcome: R,
) {
    operation.keep(strategy, last, outcome);
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
