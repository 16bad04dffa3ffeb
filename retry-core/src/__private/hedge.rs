//! Functions with which the expansion of `#[retryable]` runs attempts with a hedge.

use crate::hedge::Hedge;
use crate::observe::{Event, NoHedge};
use crate::operation::race::{self, Form, OtherToken, Parts, Race, RaceOf};
use crate::operation::{
    AttemptContext, Beginning, Call, ContextState, Decision, End, LimitsOn, OnRetry, OperationOf, OptionalObserver,
    Outcome, TimeLimits, explored,
};
use crate::policy::RetryDirective;
use crate::strategy::RetryStrategy;
use crate::support::KeptOutcome;
use crate::time::Timer;
use std::pin::Pin;
use std::task::Context;
use std::time::Duration;

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

/// Makes one attempt of a function with a hedge. Returns the end of the operation, or `None` if another attempt follows: the hedge,
/// or a retry.
///
/// `attempt` returns the future of the attempt. `beginning` is `None` if there is no `on_retry`.
pub async fn turn<F, S, L, T, O, X: Contexts>(
    call: Call<'_, S, T, O>,
    operation: &mut OperationOf<S, L, O>,
    race: &mut RaceOf<'_, F, S, L, T>,
    last: &mut impl KeptOutcome<F::Output>,
    contexts: &mut X,
    attempt: impl FnOnce(X::Next) -> F,
    evaluate: impl FnMut(&mut OperationOf<S, L, O>, &Outcome<F::Output>) -> RetryDirective,
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
    let mut function = Function { call, operation, contexts, evaluate, beginning, on_retry };
    race::turn(race, &mut function, last, |function, number, time_left| {
        attempt(function.contexts.next(number, time_left))
    })
    .await
}

/// A function with a hedge.
struct Function<'c, S: RetryStrategy, T, L: TimeLimits, O: OptionalObserver, X, E, N> {
    call: Call<'c, S, T, O>,
    operation: &'c mut OperationOf<S, L, O>,
    contexts: &'c mut X,
    evaluate: E,
    beginning: Option<Beginning>,
    on_retry: N,
}

impl<S, T, L, O, R, X, E, N> Form<S, T, L, O, R> for Function<'_, S, T, L, O, X, E, N>
where
    S: RetryStrategy,
    T: Timer + Copy,
    L: TimeLimits,
    O: OptionalObserver + Copy,
    X: Contexts,
    E: FnMut(&mut OperationOf<S, L, O>, &Outcome<R>) -> RetryDirective,
    N: FnMut(&R, &Event),
{
    fn parts(&mut self) -> Parts<'_, S, T, L, O> {
        (self.call.by_ref(), self.operation)
    }

    fn buy_hedge(&mut self, _: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge> {
        self.call.buy_hedge(self.operation)
    }

    fn evaluate(&mut self, outcome: &Outcome<R>) -> RetryDirective {
        (self.evaluate)(self.operation, outcome)
    }

    fn settle(&mut self, directive: Option<RetryDirective>, outcome: &Outcome<R>) -> Decision {
        let Self { call, operation, contexts, beginning, on_retry, .. } = self;
        let directive = directive.map(|directive| contexts.remember(directive));
        let driver = beginning.zip(explored::value(outcome)).map(|(beginning, outcome)| {
            OnRetry::new(beginning, |event: &Event| on_retry(outcome, event))
        });
        operation.settle_or_end(*call, directive, driver)
    }
}

/// The contexts of the attempts of a function, which may have none.
pub trait Contexts {
    /// The context of an attempt that has not begun.
    type Next;

    /// Returns the context of the attempt with this number and this time limit.
    fn next(&self, number: u32, time_left: Option<Duration>) -> Self::Next;

    /// Stores the directive for an attempt, and returns it.
    #[must_use]
    fn remember(&mut self, directive: RetryDirective) -> RetryDirective;
}

impl Contexts for () {
    type Next = ();

    #[inline]
    fn next(&self, _: u32, _: Option<Duration>) {}

    #[inline]
    fn remember(&mut self, directive: RetryDirective) -> RetryDirective {
        directive
    }
}

impl Contexts for ContextState {
    type Next = NextContext;

    fn next(&self, number: u32, time_left: Option<Duration>) -> NextContext {
        NextContext(self.attempt(number, time_left))
    }

    fn remember(&mut self, directive: RetryDirective) -> RetryDirective {
        self.remember(directive)
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
