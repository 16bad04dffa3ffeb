//! Functions with which the expansion of `#[retryable]` runs attempts: thin wrappers of [`Call`]. Through them, rustc reports
//! a wrong type once, at the user's tokens.

pub use crate::operation::{Call, FunctionName, Name, Path, State};

use super::accepted::{
    AcceptedBlockingTimer, AcceptedDeadline, AcceptedObserver, AcceptedShare, AcceptedStop, AcceptedStrategy,
    AcceptedTimer, Anew, IntoSpan,
};
use crate::operation::{
    Attempt, AttemptContext, ContextState, Deadline, DeadlineAndSleep, Identified, Limited, OptionalObserver, Place,
    StateOf, Stop, TimeLimits, Unlimited, Wait,
};
use crate::strategy::{Operations, RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{BlockingTimer, Clock, Timer};
use std::pin::Pin;
use std::time::Duration;

/// Takes a strategy that is the value of an expression.
#[inline]
pub fn shared<S, A>(strategy: S) -> A
where
    Operations: AcceptedShare<S, A>,
{
    Operations::take(strategy)
}

/// Makes a call whose strategy is a static. A `const` would be a new strategy at each use.
#[inline]
pub fn call<S: AcceptedStrategy<A>, A: 'static>(name: &'static Name, strategy: &'static S) -> Call<'static, A> {
    Call::new(name, strategy.accept())
}

/// Makes a call whose strategy is part of an argument.
#[inline]
pub fn call_with<'c, S: AcceptedStrategy<A>, A>(name: &'static Name, strategy: &'c S) -> Call<'c, A> {
    Call::new(name, strategy.accept())
}

/// Makes a call whose strategy is an argument itself, or a variable of the function.
#[inline]
pub fn call_with_shared<'c, S, A>(name: &'static Name, strategy: &'c S) -> Call<'c, A>
where
    Operations: AcceptedShare<S, A>,
{
    Call::new(name, Operations::borrow(strategy))
}

/// Gives an expression the type of an outcome. It is never called.
#[cold]
pub fn unreached<R>() -> R {
    unreachable!("expanded code names the type of its outcome, and never asks for one")
}

/// Returns what a `mut` argument starts from in each attempt.
#[inline]
pub fn anew<T, A>(argument: &T) -> A
where
    Operations: Anew<T, A>,
{
    <Operations as Anew<T, A>>::copy(argument)
}

/// Returns what an argument starts from in each attempt that has its own span, into which it is moved.
#[inline]
pub fn into_span<T, A>(argument: &T) -> A
where
    Operations: IntoSpan<T, A>,
{
    <Operations as IntoSpan<T, A>>::copy(argument)
}

/// Begins an operation.
#[inline]
pub fn begin<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
) -> StateOf<S, Unlimited, O> {
    call.begin(Unlimited)
}

/// Begins an operation with time limits.
#[inline]
pub fn begin_within<S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    limits: L,
) -> StateOf<S, L, O> {
    call.begin(limits)
}

/// Lets an operation make any number of attempts.
#[inline]
pub fn unlimited_attempts<K: RetryToken, L: TimeLimits, N>(operation: &mut State<K, L, N>) {
    operation.set_unlimited(true);
}

/// Returns the place for the last outcome of an operation whose limits don't need one.
#[inline]
pub fn last<R, K: RetryToken, L: TimeLimits, N>(_: &State<K, L, N>) -> impl KeptOutcome<R> + use<R, K, L, N> {
    K::kept_outcome()
}

/// Tells the strategy the weight of an operation that begins.
#[inline]
pub fn weigh<S: RetryStrategy, L: TimeLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    weight: u32,
) {
    operation.weigh(call.strategy, weight);
}

/// No limits yet.
#[inline]
pub const fn limited() -> Limited {
    Limited::new()
}

/// A limit on the operation, beside these limits.
#[inline]
pub fn max_time(limits: Limited, time: Duration) -> Limited {
    limits.with_max_time(time)
}

/// A limit on the operation by a deadline, beside these limits.
#[inline]
pub fn until<D: AcceptedDeadline>(limits: Limited, deadline: D) -> Limited {
    limits.with_deadline(deadline.accept())
}

/// A limit on each attempt, beside these limits.
#[inline]
pub fn attempt_timeout(limits: Limited, time: Duration) -> Limited {
    limits.with_attempt_timeout(time)
}

/// A handle that stops the operation, beside these limits.
#[inline]
pub fn stop<S: AcceptedStop<K>, K>(limits: Limited, stop: &S) -> Limited<&Stop> {
    limits.with_stop(stop.accept())
}

/// Returns the next wait before an attempt; `None` once the attempt is due.
#[expect(clippy::inline_always, reason = "every attempt passes here, and without it nothing of it folds away")]
#[inline(always)]
pub fn wait<'c, S: RetryStrategy, L: TimeLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'c, S, T, O>,
    operation: &'c mut StateOf<S, L, O>,
) -> Option<Wait<'c, S, T::Sleep>> {
    call.wait(operation)
}

/// Blocks the thread until the attempt is due, or returns the limit that prevents it.
#[inline]
pub fn block<S: RetryStrategy, L: TimeLimits, T: BlockingTimer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
) -> Option<L::Cut> {
    call.block(operation)
}

/// Returns the place of the attempt that begins now.
#[inline]
pub fn place<K, L: TimeLimits, N>(operation: &State<K, L, N>) -> Place {
    Place::of(operation)
}

/// Creates the state that the contexts of attempts need.
#[inline]
pub fn context(operation: &impl Identified) -> ContextState {
    ContextState::new(operation.operation_id())
}

/// Returns the context of the attempt that begins now.
#[inline]
pub fn attempt_context<K: RetryToken, L: TimeLimits, N>(
    state: &ContextState,
    operation: &State<K, L, N>,
) -> AttemptContext {
    state.attempt(operation.attempts(), operation.time_left())
}

/// Returns the deadline of the attempt that begins now, and the sleep until then.
#[inline]
pub fn deadline<S: RetryStrategy, L: TimeLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
) -> DeadlineAndSleep<L, T::Sleep> {
    call.deadline(operation)
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

/// Returns the timer that an expression gives.
#[inline]
pub fn timer<T: AcceptedTimer<A>, A>(timer: &T) -> &A {
    timer.accept()
}

/// Returns the timer of a static. A `const` would be a new timer at each use.
#[inline]
pub fn static_timer<T: AcceptedTimer<A>, A>(timer: &'static T) -> &'static A {
    timer.accept()
}

/// Returns the timer that an expression gives, in a function that blocks.
#[inline]
pub fn blocking_timer<T: AcceptedBlockingTimer<A>, A>(timer: &T) -> &A {
    timer.accept()
}

/// Returns the timer of a static, in a function that blocks.
#[inline]
pub fn static_blocking_timer<T: AcceptedBlockingTimer<A>, A>(timer: &'static T) -> &'static A {
    timer.accept()
}

/// Returns the observer that an expression gives.
#[inline]
pub fn observer<O: AcceptedObserver<A> + ?Sized, A: ?Sized>(observer: &O) -> &A {
    observer.accept()
}

/// Returns the observer of a static. A `const` would be a new observer at each use.
#[inline]
pub fn static_observer<O: AcceptedObserver<A> + ?Sized, A: ?Sized>(observer: &'static O) -> &'static A {
    observer.accept()
}
