//! Functions with which the expansion of `#[retryable]` runs attempts with a hedge.

use super::settle::textual;
use crate::hedge::Hedge;
use crate::observe::{Event, NoHedge};
use crate::operation::hedging::{Form, OtherToken, Parts};
use crate::operation::{
    AttemptContext, AttemptSleep, Beginning, Call, ContextState, Decision, End, OnRetry, OptionalObserver, Outcome,
    Race, RaceOf, Raced, RunningLimits, State, StateOf, explored,
};
use crate::policy::RetryDirective;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::Context;

/// Returns the hedge of a static. A `const` would be a new hedge in each call, which learns nothing.
#[inline]
pub const fn static_hedge(hedge: &'static Hedge) -> &'static Hedge {
    hedge
}

/// The place of a future that may not exist.
type Place<'a, F> = Pin<&'a mut Option<F>>;

/// Creates the race of an operation that begins. The places are for the attempts, their time limits, and the delay.
#[inline]
pub fn race<'a, F: Future, S: RetryStrategy, L: RunningLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    _: Call<'_, S, T, O>,
    operation: &StateOf<S, L, O>,
    hedge: &'static Hedge,
    attempts: [Place<'a, F>; 2],
    sleeps: [Place<'a, L::Sleep<T::Sleep>>; 2],
    due: Place<'a, T::Sleep>,
) -> RaceOf<'a, F, S, L, T> {
    Race::new(operation, hedge, attempts, sleeps, due)
}

/// Sets the weight of the hedge.
#[inline]
pub const fn weigh_hedge<F: Future, Z: AttemptSleep<C>, D: Future<Output = ()>, K: RetryToken, C: Copy + Unpin>(
    race: &mut Race<'_, F, Z, D, K, C>,
    weight: u32,
) {
    race.weigh(weight);
}

/// Begins the time of the next attempt, unless the service did not recover.
#[inline]
pub fn begin_attempt<F: Future, S: RetryStrategy, L: RunningLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    race: &mut RaceOf<'_, F, S, L, T>,
    last: &mut impl KeptOutcome<F::Output>,
) {
    if !race.unrecovered(call, operation, last) {
        race.begin(call.deadline(operation));
    }
}

/// Starts the attempt.
#[inline]
pub fn start<F: Future, Z: AttemptSleep<C>, D: Future<Output = ()>, K: RetryToken, C: Copy + Unpin>(
    race: &mut Race<'_, F, Z, D, K, C>,
    attempt: F,
) {
    race.start(|| attempt);
}

/// Deals with what happened in a race. Returns the end of the operation, if it has ended.
///
/// There is a `beginning` if there is an `on_retry`.
#[inline]
#[expect(clippy::too_many_arguments, reason = "each one is an expression of the expansion")]
pub fn proceed<F, S, L, T, O>(
    call: Call<'_, S, T, O>,
    operation: &mut StateOf<S, L, O>,
    (race, raced): (&mut RaceOf<'_, F, S, L, T>, Raced<L::Cut>),
    last: &mut impl KeptOutcome<F::Output>,
    evaluate: impl FnMut(&mut StateOf<S, L, O>, &Outcome<F::Output>) -> RetryDirective,
    (context, beginning): (Option<&mut ContextState>, Option<Beginning>),
    on_retry: impl FnOnce(&F::Output, &Event) -> ControlFlow<()>,
    out_of_time: impl FnMut(L::Cut) -> F::Output,
) -> Option<End<F::Output>>
where
    F: Future,
    S: RetryStrategy,
    L: RunningLimits,
    T: Timer + Copy,
    O: OptionalObserver + Copy,
{
    let on_retry = beginning.map(|beginning| (beginning, on_retry));
    let weight = race.weight();
    race.proceed(&mut HedgedFunction { call, operation, weight, evaluate, context, on_retry, out_of_time }, last, raced)
}

/// A function with a hedge, for one step.
struct HedgedFunction<'a, S: RetryStrategy, T, L: RunningLimits, O: OptionalObserver, E, N, M> {
    call: Call<'a, S, T, O>,
    operation: &'a mut StateOf<S, L, O>,
    weight: Option<u32>,
    evaluate: E,
    context: Option<&'a mut ContextState>,
    on_retry: Option<(Beginning, N)>,
    out_of_time: M,
}

impl<S, T, L, O, R, E, N, M> Form<S, T, L, O, R> for HedgedFunction<'_, S, T, L, O, E, N, M>
where
    S: RetryStrategy,
    T: Timer + Copy,
    L: RunningLimits,
    O: OptionalObserver + Copy,
    E: FnMut(&mut StateOf<S, L, O>, &Outcome<R>) -> RetryDirective,
    N: FnOnce(&R, &Event) -> ControlFlow<()>,
    M: FnMut(L::Cut) -> R,
{
    fn parts(&mut self) -> Parts<'_, S, T, L, O> {
        (self.call.by_ref(), self.operation)
    }

    fn buy_hedge(&mut self, _: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge> {
        self.call.buy_hedge(self.operation, self.weight)
    }

    fn cut(&mut self, cut: L::Cut, last: &mut impl KeptOutcome<R>) -> Option<ControlFlow<R, R>> {
        Some(self.operation.cut(cut, last, &mut self.out_of_time))
    }

    fn evaluate(&mut self, outcome: &Outcome<R>) -> RetryDirective {
        (self.evaluate)(self.operation, outcome)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle(
        &mut self,
        directive: Option<RetryDirective>,
        outcome: &Outcome<R>,
        last: &impl KeptOutcome<R>,
    ) -> Decision {
        let directive = match &mut self.context {
            None => directive,
            Some(context) => directive.map(|directive| context.__remember(directive)),
        };
        let Self { call, operation, on_retry, .. } = self;
        operation.settle_or_end(*call, directive, || {
            let on_retry = on_retry.take().zip(explored::value(outcome));
            let driver = on_retry.map(|((beginning, on_retry), outcome)| {
                OnRetry::new(beginning, |event: &Event| on_retry(outcome, event))
            });
            textual(driver, last, outcome)
        })
    }
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
pub fn next_context<K: RetryToken, L: RunningLimits, N>(
    state: &ContextState,
    operation: &State<K, L, N>,
) -> NextContext {
    NextContext(super::attempt_context(state, operation))
}
