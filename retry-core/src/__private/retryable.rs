//! Functions with which the expansion of `#[retryable]` runs attempts: thin wrappers of [`Call`]. Through them, rustc reports
//! a wrong type once, at the user's tokens.

pub use crate::operation::{Call, FunctionName, Name, Path, State};

use super::accepted::{
    AcceptedAttempts, AcceptedBlockingTimer, AcceptedName, AcceptedObserver, AcceptedShare, AcceptedStop,
    AcceptedStrategy, AcceptedTimer, AcceptedWhen, Anew, IntoSpan,
};
use super::error_text::{TextOf, WithText};
use crate::operation::{
    AtMost, Attempt, AttemptContext, AttemptSleep, ContextState, CutOnStop, Deadline, DeadlineAndSleep, Identified,
    Limited, OptionalObserver, OwnStop, Place, RunningLimits, StateOf, Step, Stop, StopHandle, TimeLimits, Unlimited,
    Wait,
};
use crate::strategy::{Operations, RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::deadline::AcceptedDeadline;
use crate::time::limit::AcceptedLimit;
use crate::time::{BlockingTimer, Clock, Timer};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::pin::Pin;

/// Takes a strategy that is the value of an expression. If the value is not a strategy, its type stays unknown, so that rustc
/// does not report as well that it is not shared.
#[inline]
pub fn shared<S, T, A>(strategy: S) -> A
where
    S: AcceptedStrategy<T>,
    Operations: AcceptedShare<S, T, A>,
{
    Operations::take(strategy.take())
}

impl Name {
    /// Makes a call whose strategy is a static. A `const` would be a new strategy at each use.
    #[inline]
    pub fn __call<S: AcceptedStrategy<A>, A: 'static>(&self, strategy: &'static S) -> Call<'_, A> {
        Call::new(self, strategy.accept())
    }

    /// Makes a call whose strategy is part of an argument.
    #[inline]
    pub fn __call_with<'c, S: AcceptedStrategy<A>, A>(&'c self, strategy: &'c S) -> Call<'c, A> {
        Call::new(self, strategy.accept())
    }

    /// Makes a call whose strategy is an argument itself, or a variable of the function.
    #[inline]
    pub fn __call_with_shared<'c, S, T, A>(&'c self, strategy: &'c S) -> Call<'c, A>
    where
        S: AcceptedStrategy<T>,
        T: 'c,
        Operations: AcceptedShare<S, T, A>,
    {
        Call::new(self, Operations::borrow(strategy.accept()))
    }
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
pub fn begin_within<S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    limits: L,
) -> StateOf<S, L, O> {
    call.begin(limits)
}

/// Lets an operation make any number of attempts.
#[inline]
pub fn unlimited_attempts<K: RetryToken, L: RunningLimits, N>(operation: &mut State<K, L, N>) {
    operation.set_unlimited(true);
}

/// Returns the number of attempts that a literal says. The macro refuses 0.
#[inline]
pub const fn attempts(number: u32) -> Option<NonZeroU32> {
    NonZeroU32::new(number)
}

/// Returns the number of attempts that an expression gives; `None` means that of the strategy.
#[inline]
pub fn accept_attempts<A: AcceptedAttempts>(attempts: A) -> Option<NonZeroU32> {
    attempts.accept()
}

/// No time limits, and at most this many attempts.
#[inline]
pub const fn at_most(attempts: Option<NonZeroU32>) -> AtMost {
    AtMost::new(attempts)
}

/// A number of attempts, beside these limits.
#[inline]
pub fn max_attempts(limits: Limited, attempts: Option<NonZeroU32>) -> Limited {
    limits.with_max_attempts(attempts)
}

/// Returns the name that an expression gives.
#[inline]
pub fn given_name<N: AcceptedName>(name: N) -> Name {
    Name::given(name.accept())
}

/// Returns the place for the last outcome of an operation whose limits don't need one.
#[inline]
pub fn last<R, K: RetryToken, L: RunningLimits, N, X: TextOf<R>>(
    _: &State<K, L, N>,
    text: PhantomData<X>,
) -> impl KeptOutcome<R> + use<R, K, L, N, X> {
    WithText { place: K::kept_outcome(), text }
}

/// Tells the strategy the weight of an operation that begins.
#[inline]
pub fn weigh<S: RetryStrategy, L: RunningLimits, T: Clock + Copy, O: OptionalObserver + Copy>(
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

/// These limits, for an operation that must not be carried out twice.
#[inline]
pub fn once<H: StopHandle>(mut limits: Limited<H>) -> Limited<H> {
    limits.note_once(true);
    limits
}

/// A limit on the operation, beside these limits.
#[inline]
pub fn max_time<D: AcceptedLimit>(limits: Limited, time: D) -> Limited {
    limits.with_max_time(time.accept())
}

/// A limit on the operation by a deadline, beside these limits.
#[inline]
pub fn until<D: AcceptedDeadline>(limits: Limited, deadline: D) -> Limited {
    limits.with_deadline(deadline.accept())
}

/// A limit on each attempt, beside these limits.
#[inline]
pub fn attempt_timeout<D: AcceptedLimit>(limits: Limited, time: D) -> Limited {
    limits.with_attempt_timeout(time.accept())
}

/// A handle that stops the operation, beside these limits.
#[inline]
pub fn stop<S: AcceptedStop<K>, K>(limits: Limited, stop: &S) -> Limited<&Stop> {
    limits.with_stop(stop.accept())
}

/// Returns the future that stops the operation once it is ready.
#[inline]
pub fn stop_when<W: AcceptedWhen<K>, K>(when: W) -> Option<W::When> {
    Some(when.accept())
}

/// Returns the handle that this future stops.
#[inline]
pub const fn own_stop() -> Stop {
    Stop::new()
}

/// The handle that the future of an operation stops, beside these limits.
#[inline]
pub fn stopped_by<H: StopHandle>(limits: Limited<H>, own: &Stop) -> Limited<OwnStop<&Stop, H>> {
    limits.with_own(own)
}

/// Lets a stop cut the attempt that runs.
#[inline]
pub fn cut_on_stop<H: StopHandle>(limits: Limited<H>) -> Limited<CutOnStop<H>> {
    limits.cutting(true)
}

/// Runs a step of an operation with the future that is polled beside it.
#[inline]
pub fn beside<'a, W: Future, I: IntoFuture<IntoFuture: Unpin>>(
    when: Pin<&'a mut Option<W>>,
    own: &'a Stop,
    step: I,
) -> Step<'a, W, I::IntoFuture> {
    Step::new(when, own, step.into_future())
}

/// Begins the attempt if it needs nothing, and returns whether it did. Otherwise [`wait`] says what it waits for, and begins it.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn begin_if_due<S: RetryStrategy, L: RunningLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
) -> bool {
    call.begin_if_due(operation)
}

/// Returns the next wait before an attempt; `None` once the attempt is due.
#[cfg_attr(not(debug_assertions), inline(always))]
pub fn wait<'c, S: RetryStrategy, L: RunningLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'c, S, T, O>,
    operation: &'c mut StateOf<S, L, O>,
) -> Option<Wait<'c, S, T::Sleep>> {
    call.wait(operation)
}

/// Blocks the thread until the attempt is due, or returns the limit that prevents it.
#[inline]
pub fn block<S: RetryStrategy, L: RunningLimits, T: BlockingTimer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
) -> Option<L::Cut> {
    call.block(operation)
}

/// Returns the place of the attempt that begins now.
#[inline]
pub fn place<K, L: RunningLimits, N>(operation: &State<K, L, N>) -> Place {
    Place::of(operation)
}

/// Creates the state that the contexts of attempts need.
#[inline]
pub fn context(operation: &impl Identified) -> ContextState {
    ContextState::new(operation.operation_id())
}

/// Returns the context of the attempt that begins now.
#[inline]
pub fn attempt_context<K: RetryToken, L: RunningLimits, N>(
    state: &ContextState,
    operation: &State<K, L, N>,
) -> AttemptContext {
    state.attempt(operation.attempts(), operation.time_left())
}

/// Returns the deadline of the attempt that begins now, and the sleep until then.
#[inline]
pub fn deadline<S: RetryStrategy, L: RunningLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
) -> DeadlineAndSleep<L, T::Sleep> {
    call.prompt_deadline(operation)
}

/// Runs an attempt that has a deadline.
#[inline]
pub fn attempt<'a, F: Future, S: AttemptSleep<C>, C: Copy + Unpin>(
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
