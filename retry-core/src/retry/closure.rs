//! The forms of a retried closure: async or blocking, with or without a context.

use crate::observe::{Event, OperationId};
use crate::operation::{AttemptContext, Beginning, ContextState, Driver, Identified, OnRetry, OnRetryOutput, Plain};
use crate::policy::RetryDirective;
use crate::time::Clock;
use std::ops::ControlFlow;
use std::time::Duration;

/// A closure whose attempts block the thread; see [`retry_blocking`](crate::retry::retry_blocking).
#[derive(Clone, Copy, Debug)]
pub struct Blocking<F>(pub(super) F);

/// A closure that takes the context of each attempt; see [`retry_with_context`](crate::retry::retry_with_context).
#[derive(Clone, Copy, Debug)]
pub struct WithContext<F>(pub(super) F);

/// A closure together with an `on_retry` closure for its failures; see [`Retry::on_retry`](crate::Retry::on_retry).
#[derive(Clone, Copy, Debug)]
pub struct WithOnRetry<F, N> {
    pub(super) attempts: F,
    pub(super) on_retry: N,
}

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// A retried closure in any of its forms. This trait is sealed.
///
/// ```
/// use retry_core::retry::Attempts;
/// use retry_core::{PatientRetryStrategy, Retry};
///
/// /// Sets what all calls of a program share, for closures of any form.
/// fn shared<F: Attempts>(
///     call: Retry<&'static PatientRetryStrategy, F>,
/// ) -> Retry<&'static PatientRetryStrategy, F> {
///     call.name("store")
/// }
/// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// # let _ = shared(retry_core::retry(&STORE, async || Ok::<(), std::io::Error>(())));
/// ```
pub trait Attempts: sealed::Sealed {
    /// The outcome of an attempt.
    type Outcome;

    /// State kept from one attempt to the next.
    #[doc(hidden)]
    type State: AttemptState;

    /// Returns the driver that settles an outcome: one with the `on_retry` closure, if there is one.
    #[doc(hidden)]
    #[inline]
    fn driver(&mut self, _: &Self::State, _: &Self::Outcome) -> impl Driver {
        Plain
    }

    /// Calls the `on_retry` closure, if any, with a failure and its event. Returns whether the operation goes on.
    #[doc(hidden)]
    fn on_failure(&mut self, _: &Self::Outcome, _: &Event) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// A retried closure that returns a future for each attempt. This trait is sealed.
///
/// ```
/// use retry_core::retry::AsyncAttempts;
/// use retry_core::{PatientRetryStrategy, Retry, TimedOut};
/// use std::time::Duration;
///
/// /// Limits the time of each attempt of a closure that makes futures.
/// async fn bounded<F, T, E>(call: Retry<&'static PatientRetryStrategy, F>) -> Result<T, E>
/// where
///     F: AsyncAttempts<Outcome = Result<T, E>>,
///     E: retry_core::RetryInfo + From<TimedOut>,
/// {
///     call.attempt_timeout(Duration::from_secs(2)).run().await
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "an attempt that blocks its thread can't be cut; set a timeout on the call that blocks, or bound waits and starts with `max_time`",
    label = "expected a closure that returns futures"
)]
pub trait AsyncAttempts: Attempts {
    /// The future of an attempt.
    #[doc(hidden)]
    type Future: Future<Output = Self::Outcome>;

    /// Returns the future of the attempt with this number and this time limit.
    #[doc(hidden)]
    fn attempt(&mut self, state: &Self::State, number: u32, time_left: Option<Duration>) -> Self::Future;
}

/// A retried closure whose attempts block the thread. This trait is sealed.
///
/// ```
/// use retry_core::retry::{Blocking, BlockingAttempts};
/// use retry_core::time::StdTimer;
/// use retry_core::{PatientRetryStrategy, Retry, RetryInfo, StandardRetryPolicy};
///
/// type Call<F> =
///     Retry<&'static PatientRetryStrategy, Blocking<F>, StandardRetryPolicy, StdTimer>;
///
/// /// Runs a closure that blocks, and prints how often it was called.
/// fn counted<F, T, E: RetryInfo>(call: Call<F>) -> Result<T, E>
/// where
///     Blocking<F>: BlockingAttempts<Outcome = Result<T, E>>,
/// {
///     let report = call.report();
///     println!("attempts: {}", report.attempts);
///     report.outcome
/// }
/// ```
pub trait BlockingAttempts: Attempts {
    /// Runs the attempt with this number and this time limit.
    #[doc(hidden)]
    fn attempt(&mut self, state: &Self::State, number: u32, time_left: Option<Duration>) -> Self::Outcome;
}

/// A closure that returns futures. The trait exists for its message.
#[diagnostic::on_unimplemented(
    message = "`retry` takes a closure that returns a future, and this one returns `{R}`",
    label = "this returns `{R}`, which is not a future",
    note = "for a call that blocks its thread, write `retry_blocking(..)`, and no `.await`",
    note = "for a call that is async, return its future, without a `;`"
)]
pub trait ReturnsFuture<R> {}

#[diagnostic::do_not_recommend]
impl<F, Fut: Future> ReturnsFuture<Fut> for F {}

/// State kept from one attempt to the next: the state of the contexts, or none.
pub trait AttemptState {
    /// Creates the state at the start of an operation.
    fn begin(operation: &impl Identified, clock: &impl Clock) -> Self;

    /// Returns the id of the operation, if the state has it.
    fn operation_id(&self) -> Option<OperationId> {
        None
    }

    /// Stores the directive for an attempt, and returns it.
    fn remember(&mut self, directive: RetryDirective) -> RetryDirective;
}

impl AttemptState for () {
    #[inline]
    fn begin(_: &impl Identified, _: &impl Clock) {}

    #[inline]
    fn remember(&mut self, directive: RetryDirective) -> RetryDirective {
        directive
    }
}

impl AttemptState for ContextState {
    fn begin(operation: &impl Identified, _: &impl Clock) -> Self {
        Self::new(operation.operation_id())
    }

    fn operation_id(&self) -> Option<OperationId> {
        Some(Identified::operation_id(self))
    }

    fn remember(&mut self, directive: RetryDirective) -> RetryDirective {
        self.__remember(directive)
    }
}

/// The state of a closure with the beginning of its operation.
#[derive(Debug)]
pub struct Started<T> {
    state: T,
    beginning: Beginning,
}

impl<T: AttemptState> AttemptState for Started<T> {
    fn begin(operation: &impl Identified, clock: &impl Clock) -> Self {
        let state = T::begin(operation, clock);
        // An operation without an observer may not keep its id, but its contexts do.
        let id = state.operation_id().unwrap_or_else(|| operation.operation_id());
        Self { state, beginning: Beginning::new(id, clock.reading()) }
    }

    fn remember(&mut self, directive: RetryDirective) -> RetryDirective {
        self.state.remember(directive)
    }
}

impl<F: FnMut() -> Fut, Fut: Future> sealed::Sealed for F {}

impl<F: FnMut() -> Fut, Fut: Future> Attempts for F {
    type Outcome = Fut::Output;
    type State = ();
}

impl<F: FnMut() -> Fut, Fut: Future> AsyncAttempts for F {
    type Future = Fut;

    #[inline]
    fn attempt(&mut self, (): &(), _: u32, _: Option<Duration>) -> Fut {
        self()
    }
}

impl<F: FnMut(AttemptContext) -> Fut, Fut: Future> sealed::Sealed for WithContext<F> {}

impl<F: FnMut(AttemptContext) -> Fut, Fut: Future> Attempts for WithContext<F> {
    type Outcome = Fut::Output;
    type State = ContextState;
}

impl<F: FnMut(AttemptContext) -> Fut, Fut: Future> AsyncAttempts for WithContext<F> {
    type Future = Fut;

    fn attempt(&mut self, state: &ContextState, number: u32, time_left: Option<Duration>) -> Fut {
        (self.0)(state.attempt(number, time_left))
    }
}

impl<F: FnMut() -> R, R> sealed::Sealed for Blocking<F> {}

impl<F: FnMut() -> R, R> Attempts for Blocking<F> {
    type Outcome = R;
    type State = ();
}

impl<F: FnMut() -> R, R> BlockingAttempts for Blocking<F> {
    #[inline]
    fn attempt(&mut self, (): &(), _: u32, _: Option<Duration>) -> R {
        (self.0)()
    }
}

impl<F: FnMut(AttemptContext) -> R, R> sealed::Sealed for Blocking<WithContext<F>> {}

impl<F: FnMut(AttemptContext) -> R, R> Attempts for Blocking<WithContext<F>> {
    type Outcome = R;
    type State = ContextState;
}

impl<F: FnMut(AttemptContext) -> R, R> BlockingAttempts for Blocking<WithContext<F>> {
    fn attempt(&mut self, state: &ContextState, number: u32, time_left: Option<Duration>) -> R {
        (self.0.0)(state.attempt(number, time_left))
    }
}

impl<F: sealed::Sealed, N> sealed::Sealed for WithOnRetry<F, N> {}

impl<F, R, E, N, V> Attempts for WithOnRetry<F, N>
where
    F: Attempts<Outcome = Result<R, E>>,
    N: FnMut(&E, &Event) -> V,
    V: OnRetryOutput,
{
    type Outcome = F::Outcome;
    type State = Started<F::State>;

    fn driver(&mut self, state: &Self::State, outcome: &Self::Outcome) -> impl Driver {
        OnRetry::new(state.beginning, |event| self.on_failure(outcome, event))
    }

    fn on_failure(&mut self, outcome: &Result<R, E>, event: &Event) -> ControlFlow<()> {
        // Both are called, even if the first one ends the operation.
        let flow = self.attempts.on_failure(outcome, event);
        let Err(error) = outcome else { return flow };
        let own = (self.on_retry)(error, event).flow();
        if flow.is_break() { flow } else { own }
    }
}

impl<F, R, E, N, V> AsyncAttempts for WithOnRetry<F, N>
where
    F: AsyncAttempts<Outcome = Result<R, E>>,
    N: FnMut(&E, &Event) -> V,
    V: OnRetryOutput,
{
    type Future = F::Future;

    fn attempt(&mut self, state: &Self::State, number: u32, time_left: Option<Duration>) -> F::Future {
        self.attempts.attempt(&state.state, number, time_left)
    }
}

impl<F: sealed::Sealed, N> sealed::Sealed for Blocking<WithOnRetry<F, N>> {}

impl<F, R, E, N, V> Attempts for Blocking<WithOnRetry<F, N>>
where
    F: Attempts<Outcome = Result<R, E>>,
    N: FnMut(&E, &Event) -> V,
    V: OnRetryOutput,
{
    type Outcome = F::Outcome;
    type State = Started<F::State>;

    fn driver(&mut self, state: &Self::State, outcome: &Self::Outcome) -> impl Driver {
        OnRetry::new(state.beginning, |event| self.on_failure(outcome, event))
    }

    fn on_failure(&mut self, outcome: &Result<R, E>, event: &Event) -> ControlFlow<()> {
        self.0.on_failure(outcome, event)
    }
}

impl<F, R, E, N, V> BlockingAttempts for Blocking<WithOnRetry<F, N>>
where
    F: BlockingAttempts<Outcome = Result<R, E>>,
    N: FnMut(&E, &Event) -> V,
    V: OnRetryOutput,
{
    fn attempt(&mut self, state: &Self::State, number: u32, time_left: Option<Duration>) -> F::Outcome {
        self.0.attempts.attempt(&state.state, number, time_left)
    }
}
