//! The loops that run the attempts of a closure.

use super::closure::{AsyncAttempts, AttemptState, Attempts, Blocking, BlockingAttempts};
use super::{Function, Retry};
use crate::observe::Report;
use crate::operation::{
    Call, Decision, End, LimitsOn, OptionalObserver, Outcome, Place, RunAttempt, RunningLimits, StateOf, TimeLimits,
    explored, textual,
};
use crate::policy::RetryPolicy;
use crate::strategy::RetryStrategy;
use crate::time::{BlockingTimer, Clock, Timer, Timestamp};
use std::pin::pin;

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L>
where
    S: RetryStrategy,
    F: AsyncAttempts,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<F::Outcome>,
    P: RetryPolicy<F::Outcome>,
{
    // With the bounds at the methods, rustc would report an outcome that the policy can't evaluate three times: for the
    // method, for its future and for the `.await`.

    /// Runs the attempts and returns the last outcome.
    pub fn run(self) -> impl Future<Output = F::Outcome> {
        self.drive(|_| (), |(), _, end| end.outcome)
    }

    /// Runs the attempts and returns a report: the last outcome, the number of attempts, the reason why there were no
    /// more attempts, and the elapsed time.
    ///
    /// In the attribute, `on_end = |report| ..` is called with the report, because the attribute does not change the
    /// signature of its function.
    ///
    /// ```
    /// # use retry_core::{ErrorInfo, RetryInfo};
    /// # struct Crashed;
    /// # impl ErrorInfo for Crashed {}
    /// # impl RetryInfo for Crashed {}
    /// # use retry_core::{PatientRetryStrategy, retry};
    /// # static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// # async fn fetch() -> Result<(), Crashed> { Ok(()) }
    /// # async fn example() {
    /// let report = retry(&STORE, || fetch()).report().await;
    /// if let Some(reason) = report.reason {
    ///     eprintln!("gave up at attempt {} after {:?}: {reason}", report.attempts, report.elapsed);
    /// }
    /// # }
    /// ```
    pub fn report(self) -> impl Future<Output = Report<F::Outcome>> {
        self.drive(T::now, |started, timer, end| report(end, started, timer))
    }

    /// Runs the attempts. `conclude` builds the result from the return value of `start` and the end of the call.
    ///
    /// With these two closures, `run` and `report` share one future. An async wrapper around a common future would
    /// store the call twice.
    #[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
    fn drive<B: Copy, R>(
        mut self,
        start: impl Fn(&T) -> B + Copy,
        conclude: impl Fn(B, &T, End<F::Outcome>) -> R + Copy,
    ) -> impl Future<Output = R> {
        async move {
            let started = start(&self.timer);
            let mut operation = self.call().begin(self.limits.running());
            operation.set_unlimited(self.function.unlimited);
            let (mut state, mut last) =
                (F::State::begin(&operation, &self.timer), L::Running::kept_outcome::<_, S::Token>());
            let end = loop {
                if !self.call().begin_if_due(&mut operation) {
                    // A `while let` would store the references to the timer and the observer in the future across the
                    // await.
                    loop {
                        let Some(wait) = self.call().wait(&mut operation) else { break };
                        wait.await;
                    }
                    if let Some(outcome) = operation.unrecovered(self.call(), &mut last) {
                        let Decision::Stop { tally, reason } = self.settle(&mut operation, &mut state, &outcome, true)
                        else {
                            continue;
                        };
                        break End::new(outcome, tally, reason);
                    }
                }
                let attempted = {
                    let place = Place::of(&operation);
                    let (deadline, sleep) = self.call().prompt_deadline(&mut operation);
                    // Copied: if the attempt borrowed the operation, the future would be `Send` only with tokens that are
                    // `Sync`.
                    let (number, time_left) = (operation.attempts(), operation.time_left());
                    let (attempt, state) = (&mut self.function.attempt, &state);
                    let make = move || place.run(attempt.attempt(state, number, time_left));
                    L::Running::run_attempt(deadline, pin!(sleep), make).await
                };
                let attempted = L::Running::outcome(attempted);
                let (outcome, is_over) = operation.attempted(attempted, &mut last, |cut| self.limits.out_of_time(cut));
                match self.settle(&mut operation, &mut state, &outcome, is_over) {
                    Decision::Retry => operation.keep(self.call(), &mut last, self.moved(outcome)),
                    Decision::Stop { tally, reason } => break End::new(self.moved(outcome), tally, reason),
                }
            };
            conclude(started, &self.timer, end)
        }
    }
}

impl<S, F, P, T, O, L> Retry<S, Blocking<F>, P, T, O, L>
where
    S: RetryStrategy,
    Blocking<F>: BlockingAttempts,
    T: BlockingTimer,
    O: OptionalObserver,
    L: TimeLimits,
{
    // The bounds on the limits and the policy are at the methods, so that rustc shows the messages of `OutOfTime`, `RetryPolicy`
    // and `RetryInfo`. For async calls, it would show them three times: for the method, for its future and for the `.await`.

    /// Runs the attempts and returns the last outcome. It blocks the thread.
    pub fn run(mut self) -> <Blocking<F> as Attempts>::Outcome
    where
        L: LimitsOn<<Blocking<F> as Attempts>::Outcome>,
        P: RetryPolicy<<Blocking<F> as Attempts>::Outcome>,
    {
        self.block().outcome
    }

    /// Runs the attempts and returns a report: the last outcome, the number of attempts, the reason why there were no
    /// more attempts, and the elapsed time. It blocks the thread.
    pub fn report(mut self) -> Report<<Blocking<F> as Attempts>::Outcome>
    where
        L: LimitsOn<<Blocking<F> as Attempts>::Outcome>,
        P: RetryPolicy<<Blocking<F> as Attempts>::Outcome>,
    {
        let started = self.timer.now();
        let end = self.block();
        report(end, started, &self.timer)
    }

    fn block(&mut self) -> End<<Blocking<F> as Attempts>::Outcome>
    where
        L: LimitsOn<<Blocking<F> as Attempts>::Outcome>,
        P: RetryPolicy<<Blocking<F> as Attempts>::Outcome>,
    {
        let mut operation = self.call().begin(self.limits.running());
        operation.set_unlimited(self.function.unlimited);
        let mut state = <Blocking<F> as Attempts>::State::begin(&operation, &self.timer);
        let mut last = L::Running::kept_outcome::<_, S::Token>();
        loop {
            let cut = self.call().block(&mut operation);
            if let Some(outcome) = operation.unrecovered(self.call(), &mut last) {
                let Decision::Stop { tally, reason } = self.settle(&mut operation, &mut state, &outcome, true) else {
                    continue;
                };
                return End::new(outcome, tally, reason);
            }
            let attempted = if let Some(cut) = cut {
                Err(cut)
            } else {
                let (number, time_left) = (operation.attempts(), operation.time_left());
                let place = Place::of(&operation);
                Ok(place.run_blocking(|| self.function.attempt.attempt(&state, number, time_left)))
            };
            let (outcome, is_over) = operation.attempted(attempted, &mut last, |cut| self.limits.out_of_time(cut));
            match self.settle(&mut operation, &mut state, &outcome, is_over) {
                Decision::Retry => operation.keep(self.call(), &mut last, self.moved(outcome)),
                Decision::Stop { tally, reason } => return End::new(self.moved(outcome), tally, reason),
            }
        }
    }
}

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L>
where
    S: RetryStrategy,
    F: Attempts,
    T: Clock,
    O: OptionalObserver,
    L: LimitsOn<F::Outcome>,
    P: RetryPolicy<F::Outcome>,
{
    #[inline]
    pub(super) fn call(&self) -> Call<'_, S, &T, O::Ref<'_>> {
        Call::new(&self.function.name, &self.function.strategy).with_clock(&self.timer).with_observer(&self.observer)
    }

    /// Moves an outcome, as the policy does.
    #[inline]
    fn moved(&self, outcome: Outcome<F::Outcome>) -> Outcome<F::Outcome> {
        explored::moved(outcome, |outcome| self.policy.__moved(outcome))
    }

    /// Lets the policy and the strategy decide whether another attempt follows, and stores the state for it. If the time is over, the
    /// policy is not asked.
    #[inline]
    fn settle(
        &mut self,
        operation: &mut StateOf<S, L::Running, O>,
        state: &mut F::State,
        outcome: &Outcome<F::Outcome>,
        is_over: bool,
    ) -> Decision {
        let Self { function: Function { strategy, attempt, name, .. }, policy, timer, observer, .. } = self;
        let call = Call::new(name, strategy).with_clock(timer).with_observer(observer);
        let directive = if is_over { None } else { Some(state.remember(call.evaluate(operation, policy, outcome))) };
        operation.settle_or_end(call, directive, || {
            textual(explored::driver(outcome, |outcome| attempt.driver(state, outcome)), policy, outcome)
        })
    }
}

/// Returns the report of an operation that ends now.
pub(super) fn report<R>(end: End<R>, started: Timestamp, clock: &impl Clock) -> Report<R> {
    let End { outcome, attempts, waited, reason } = end;
    Report { outcome, attempts, reason, waited, elapsed: clock.now().saturating_since(started) }
}
