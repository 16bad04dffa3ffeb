//! Functions with which the expansion of `#[retryable]` runs attempts with a hedge.

use crate::hedge::Hedge;
use crate::observe::{Event, NoHedge};
use crate::operation::race::{self, Begun, Form, OtherToken, Parts, Race, RaceOf};
use crate::operation::{
    AttemptContext, Beginning, Call, ContextState, Decision, End, LimitsOn, OnRetry, Operation, OperationOf,
    OptionalObserver, Outcome, TimeLimits, explored,
};
use crate::policy::RetryDirective;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Timer;
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

/// Waits until the next attempt of a function with a hedge is due. Then its time begins.
pub async fn until_due<F: Future, S: RetryStrategy, L: TimeLimits, T: Timer + Copy, O: OptionalObserver + Copy>(
    call: Call<'_, S, T, O>,
    operation: &mut OperationOf<S, L, O>,
    race: &mut RaceOf<'_, F, S, L, T>,
    last: &mut impl KeptOutcome<F::Output>,
) {
    race::until_due(race, &mut (call, operation), last).await;
}

/// Starts the attempt.
#[inline]
pub fn start<F: Future, Z: Future<Output = ()>, D: Future<Output = ()>, K: RetryToken, C: Copy + Unpin>(
    race: &mut Race<'_, F, Z, D, K, C>,
    attempt: F,
) {
    race.start(|| attempt);
}

/// Runs the attempts until another one follows, or returns the end of the operation. There is a `beginning` if there is an `on_retry`.
pub async fn until_end<F, S, L, T, O>(
    call: Call<'_, S, T, O>,
    operation: &mut OperationOf<S, L, O>,
    race: &mut RaceOf<'_, F, S, L, T>,
    last: &mut impl KeptOutcome<F::Output>,
    evaluate: impl FnMut(&mut OperationOf<S, L, O>, &Outcome<F::Output>) -> RetryDirective,
    context: Option<&mut ContextState>,
    beginning: Option<Beginning>,
    on_retry: impl FnMut(&F::Output, &Event),
) -> Option<End<F::Output>>
where
    F: Future,
    S: RetryStrategy,
    L: LimitsOn<F::Output>,
    T: Timer + Copy,
    O: OptionalObserver + Copy,
{
    let mut function = Function { begun: (call, operation), evaluate, context, beginning, on_retry };
    race::until_end(race, &mut function, last).await
}

/// The hooks of a function with a hedge.
struct Function<'a, B, E, N> {
    begun: B,
    evaluate: E,
    context: Option<&'a mut ContextState>,
    beginning: Option<Beginning>,
    on_retry: N,
}

impl<S, T, L, O> Begun<S, T, L, O> for (Call<'_, S, T, O>, &mut OperationOf<S, L, O>)
where
    S: RetryStrategy,
    T: Timer + Copy,
    L: TimeLimits,
    O: OptionalObserver + Copy,
{
    fn parts(&mut self) -> Parts<'_, S, T, L, O> {
        (self.0.by_ref(), self.1)
    }
}

impl<S, T, L, O, B, E, N> Begun<S, T, L, O> for Function<'_, B, E, N>
where
    S: RetryStrategy,
    L: TimeLimits,
    O: OptionalObserver,
    B: Begun<S, T, L, O>,
{
    fn parts(&mut self) -> Parts<'_, S, T, L, O> {
        self.begun.parts()
    }
}

impl<S, T, L, O, R, B, E, N> Form<S, T, L, O, R> for Function<'_, B, E, N>
where
    S: RetryStrategy,
    T: Timer,
    L: TimeLimits,
    O: OptionalObserver,
    B: Begun<S, T, L, O>,
    E: FnMut(&mut OperationOf<S, L, O>, &Outcome<R>) -> RetryDirective,
    N: FnMut(&R, &Event),
{
    fn buy_hedge(&mut self, _: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge> {
        let (call, operation) = self.begun.parts();
        call.buy_hedge(operation)
    }

    fn evaluate(&mut self, outcome: &Outcome<R>) -> RetryDirective {
        (self.evaluate)(self.begun.parts().1, outcome)
    }

    fn settle(&mut self, directive: Option<RetryDirective>, outcome: &Outcome<R>) -> Decision {
        let Self { begun, context, beginning, on_retry, .. } = self;
        let directive = match context {
            None => directive,
            Some(context) => directive.map(|directive| context.remember(directive)),
        };
        let driver = beginning
            .zip(explored::value(outcome))
            .map(|(beginning, outcome)| OnRetry::new(beginning, |event: &Event| on_retry(outcome, event)));
        let (call, operation) = begun.parts();
        operation.settle_or_end(call, directive, driver)
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
pub fn next_context<K: RetryToken, L: TimeLimits, N>(
    state: &ContextState,
    operation: &Operation<K, L, N>,
) -> NextContext {
    NextContext(super::attempt_context(state, operation))
}
