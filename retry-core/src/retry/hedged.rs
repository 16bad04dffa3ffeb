//! Calls with a hedge.

use super::closure::{AsyncAttempts, AttemptState};
use super::run::report;
use super::{Function, Retry};
use crate::hedge::Hedge;
use crate::observe::{NoHedge, Report};
use crate::operation::hedging::{self, Form, OtherToken, Parts, permit};
use crate::operation::{
    Call, Decision, End, LimitsOn, OptionalObserver, Outcome, RunningLimits, StateOf, TimeLimits, explored, textual,
};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::support::KeptOutcome;
use crate::support::misplaced::{ClosureForTheEnd, SettingsAfterHedge, StrategySettings, misplaced};
use crate::time::Timer;
use std::ops::ControlFlow;
use std::task::Context;

/// A call with a [hedge](Hedge). It is created by [`Retry::hedge`] and started by [`run`](HedgedRetry::run) or
/// [`report`](HedgedRetry::report).
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.run()` or `.report()`"]
pub struct HedgedRetry<C> {
    pub(super) call: C,
    pub(super) hedge: &'static Hedge,
}

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L>
where
    F: AsyncAttempts,
{
    /// Adds a hedge: if the first attempt has no answer after the delay, a second attempt runs beside it, and the first success
    /// wins. Call this after all other methods that set something.
    ///
    /// The hedge is a static, because one that is made in each call learns nothing. For a delay that is known at run time only, make it a
    /// `static GET: LazyLock<Hedge>`. There is never a hedge if its delay is not shorter than `max_time` and `attempt_timeout`;
    /// while few hedges win, [`p95`](Hedge::p95) sends them after twice the delay.
    ///
    /// The call must be idempotent: it may be executed twice, even at the same time. There is a hedge only after `idempotent(true)`, or if
    /// the [policy](Retry::policy) [says so](RetryPolicy::is_idempotent). See [`Hedge`] for when not to use one.
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{Hedge, PatientRetryStrategy, retry};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn get(key: &str) -> Result<String, Failed> { Ok(key.to_owned()) }
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static GET: Hedge = Hedge::p95();
    ///
    /// # async fn example() -> Result<String, Failed> {
    /// retry(&STORE, || get("key")).idempotent(true).hedge(&GET).run().await
    /// # }
    /// ```
    ///
    /// # Which attempts
    ///
    /// A call has at most one hedge, beside its first attempt. It is attempt 2 of the call, with its own time limit, and is one of
    /// `max_attempts`. If both attempts fail, a retry follows as after any failure, without a hedge.
    ///
    /// # What it costs
    ///
    /// The strategy sells it at the price of an ordinary retry from the same quota, and refunds it as a retry if it wins. There is no
    /// hedge if the quota is low, a limiter does not permit it immediately, retries are switched off, or
    /// [all calls are slow](Hedge::p95). Your own strategy sells none unless it implements
    /// [`acquire_hedge`](RetryStrategy::acquire_hedge).
    ///
    /// # Which outcome
    ///
    /// - The first success wins. The other attempt is dropped.
    /// - After a failure that is worth a retry, the call waits for the other attempt.
    /// - A final failure of the first attempt ends the call. One of the hedge does not: a second deletion may not find what the
    ///   first one has deleted.
    /// - If both fail, the strategy decides once, about the worse class and the longer wait that a server asked for, and `on_retry` is
    ///   called once.
    ///
    /// While the call waits for the other attempt, it keeps a failed outcome, so its future is `Send` only if the outcome is.
    pub fn hedge(self, hedge: &'static Hedge) -> HedgedRetry<Self> {
        HedgedRetry { call: self, hedge }
    }
}

impl<S, F, P, T, O, L> HedgedRetry<Retry<S, F, P, T, O, L>>
where
    S: RetryStrategy,
    F: AsyncAttempts,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<F::Outcome>,
    P: RetryPolicy<F::Outcome>,
{
    /// Runs the attempts and returns the last outcome.
    pub fn run(self) -> impl Future<Output = F::Outcome> {
        self.drive(|_| (), |(), _, end| end.outcome)
    }

    /// Runs the attempts and returns a report, as [`Retry::report`] does. The hedge is one of the attempts.
    pub fn report(self) -> impl Future<Output = Report<F::Outcome>> {
        self.drive(T::now, |started, timer, end| report(end, started, timer))
    }

    #[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
    fn drive<B: Copy, R>(
        self,
        start: impl Fn(&T) -> B + Copy,
        conclude: impl Fn(B, &T, End<F::Outcome>) -> R + Copy,
    ) -> impl Future<Output = R> {
        async move {
            let hedge = self.hedge;
            let (started, mut hedged) = self.begin(start);
            let attempt = |hedged: &mut HedgedCall<S, F, P, T, O, L>, number, time_left| {
                hedged.call.function.attempt.attempt(&hedged.state, number, time_left)
            };
            let end = hedging::drive(&mut hedged, &mut L::Running::kept_outcome::<_, S::Token>(), hedge, attempt).await;
            conclude(started, &hedged.call.timer, end)
        }
    }

    /// Begins the operation. Not a part of the future, which would store each value twice.
    fn begin<B>(self, start: impl Fn(&T) -> B) -> (B, HedgedCall<S, F, P, T, O, L>) {
        let call = self.call;
        let started = start(&call.timer);
        let mut operation = call.call().begin(call.limits.running());
        operation.set_unlimited(call.function.unlimited);
        let state = F::State::begin(&operation, &call.timer);
        (started, HedgedCall { call, operation, state })
    }
}

/// A call that has begun.
struct HedgedCall<S: RetryStrategy, F: AsyncAttempts, P, T, O: OptionalObserver, L: TimeLimits> {
    call: Retry<S, F, P, T, O, L>,
    operation: StateOf<S, L::Running, O>,
    state: F::State,
}

impl<S, F, P, T, O, L> Form<S, T, L::Running, O, F::Outcome> for HedgedCall<S, F, P, T, O, L>
where
    S: RetryStrategy,
    F: AsyncAttempts,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<F::Outcome>,
    P: RetryPolicy<F::Outcome>,
{
    fn parts(&mut self) -> Parts<'_, S, T, L::Running, O> {
        (self.call.call(), &mut self.operation)
    }

    fn buy_hedge(&mut self, _: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge> {
        permit(&self.call.policy)?;
        // The strategy of a call with a weight knows it.
        self.call.call().buy_hedge(&mut self.operation, None)
    }

    fn cut(
        &mut self,
        cut: <L::Running as RunningLimits>::Cut,
        last: &mut impl KeptOutcome<F::Outcome>,
    ) -> Option<ControlFlow<F::Outcome, F::Outcome>> {
        Some(self.operation.cut(cut, last, |cut| self.call.limits.out_of_time(cut)))
    }

    fn evaluate(&mut self, outcome: &Outcome<F::Outcome>) -> RetryDirective {
        self.call.call().evaluate(&mut self.operation, &self.call.policy, outcome)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn settle(
        &mut self,
        directive: Option<RetryDirective>,
        outcome: &Outcome<F::Outcome>,
        _: &impl KeptOutcome<F::Outcome>,
    ) -> Decision {
        let Self { call, operation, state } = self;
        let Retry { function: Function { strategy, attempt, name, .. }, policy, timer, observer, .. } = call;
        let call = Call::new(name, strategy).with_clock(timer).with_observer(observer);
        let directive = directive.map(|directive| state.remember(directive));
        operation.settle_or_end(call, directive, || {
            textual(explored::driver(outcome, |outcome| attempt.driver(state, outcome)), policy, outcome)
        })
    }
}

// Methods that it does not have, with messages that say what to write.
impl<C> HedgedRetry<C> {
    misplaced! { StrategySettings: backoff(base: A, cap: B) jitter(jitter: A) }
    misplaced! { ClosureForTheEnd: on_end(on_end: A) }
    misplaced! {
        SettingsAfterHedge:
        idempotent(idempotent: A)
        when(when: A)
        retry_after(retry_after: A)
        policy(policy: A)
        weight(weight: A)
        used(used: A)
        observer(observer: A)
        name(name: A)
        on_retry(on_retry: A)
        timer(timer: A)
        max_time(time: A)
        deadline(deadline: A)
        attempt_timeout(time: A)
        timed_out(timed_out: A)
        max_attempts(attempts: A)
        try_max_attempts(attempts: A)
        unlimited_attempts()
        stop(stop: A)
    }
}
