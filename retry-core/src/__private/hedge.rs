//! Functions with which the expansion of `#[retryable]` runs the first attempt and a hedge beside it.

pub use crate::operation::{Race, Raced, Step};

use crate::hedge::Hedge;
use crate::operation::{
    AttemptContext, Call, ContextState, Deadline, End, LimitsOn, Operation, OperationOf, OptionalObserver, RaceOf,
    TimeLimits,
};
use crate::policy::RetryDirective;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::pin::Pin;

/// Returns the hedge of a static. A `const` would be a new hedge in each call, which learns nothing.
#[inline]
pub const fn static_hedge(hedge: &'static Hedge) -> &'static Hedge {
    hedge
}

/// The place of a future that may not exist.
type Place<'a, F> = Pin<&'a mut Option<F>>;

/// Creates the race of an operation that begins. The places are for the attempts, their time limits, and the delay.
#[inline]
pub fn race<'a, F: Future, S: RetryStrategy, L: TimeLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    _: Call<'_, S, T, O>,
    operation: &OperationOf<S, L, O>,
    hedge: &'static Hedge,
    attempts: [Place<'a, F>; 2],
    sleeps: [Place<'a, L::Sleep<T::Sleep>>; 2],
    due: Place<'a, T::Sleep>,
) -> RaceOf<'a, F, S, L, T> {
    Race::new(operation, hedge, attempts, sleeps, due)
}

/// Starts the attempt whose token the operation holds.
#[inline]
pub fn start<F: Future, Z: Future<Output = ()>, D: Future<Output = ()>, K: RetryToken, C: Copy + Unpin>(
    race: &mut Race<'_, F, Z, D, K, C>,
    (deadline, sleep): (Deadline<C>, Option<Z>),
    attempt: F,
) {
    race.start(deadline, sleep, || attempt);
}

/// Deals with what happened in a race, and returns the next step.
#[inline]
pub fn step<F: Future, S: RetryStrategy, L: LimitsOn<F::Output>, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut OperationOf<S, L, O>,
    race: &mut RaceOf<'_, F, S, L, T>,
    last: &mut impl KeptOutcome<F::Output>,
    raced: Raced<L::Cut>,
) -> Step {
    call.step(operation, race, last, raced, || Ok(()))
}

/// Decides on the end of an attempt. Returns what the operation settles, or `None` if it waits for the other attempt.
///
/// The directive comes before the operation, because the policy is asked with a reference to the operation.
#[inline]
pub fn ended<F: Future, S: RetryStrategy, L: LimitsOn<F::Output>, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    directive: RetryDirective,
    operation: &mut OperationOf<S, L, O>,
    race: &mut RaceOf<'_, F, S, L, T>,
) -> Option<RetryDirective> {
    call.ended(operation, race, directive)
}

/// Adds the hedge to the attempts of an operation that has ended.
#[inline]
pub fn with_hedge<F: Future, Z: Future<Output = ()>, D: Future<Output = ()>, K: RetryToken, C: Copy + Unpin>(
    race: &Race<'_, F, Z, D, K, C>,
    mut end: End<F::Output>,
) -> End<F::Output> {
    race.count(&mut end);
    end
}

/// The context of an attempt that has not begun. It is not `Copy`, so that the attempt takes it instead of borrowing it: it would
/// not live as long as two attempts.
#[derive(Debug)]
pub struct NextContext(AttemptContext);

impl NextContext {
    /// Returns the context, as the attempt begins.
    #[inline]
    pub const fn take(self) -> AttemptContext {
        self.0
    }
}

/// Returns the context of the next attempt.
#[inline]
pub fn next_context<K: RetryToken, L: TimeLimits, N>(
    state: &ContextState,
    operation: &Operation<K, L, N>,
) -> NextContext {
    NextContext(super::attempt_context(state, operation))
}
