//! Calls with a hedge.

use super::closure::{AsyncAttempts, AttemptState};
use super::run::{Kept, report};
use super::{Function, Retry};
use crate::hedge::{Due, Hedge};
use crate::observe::Report;
use crate::operation::{
    Call, End, Lane, LimitsOn, OperationOf, OptionalObserver, OtherToken, Runner, TimeLimits, worse,
};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::Timer;
use std::future::poll_fn;
use std::mem;
use std::ops::ControlFlow;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

/// A call with a [hedge](Hedge). It is created by [`Retry::hedge`] and started by [`run`](HedgedRetry::run) or
/// [`report`](HedgedRetry::report).
#[derive(Clone, Debug)]
#[must_use = "nothing is called before `.run()` or `.report()`"]
pub struct HedgedRetry<'h, C> {
    call: C,
    hedge: &'h Hedge,
}

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L>
where
    F: AsyncAttempts,
{
    /// Adds a hedge: if the first attempt has no answer after the delay, a second attempt runs beside it, and the first success
    /// wins. Call this after all other methods that set something.
    ///
    /// The call must be idempotent: it may be executed twice, even at the same time. See [`Hedge`] for when not to use one.
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{Hedge, StandardRetryStrategy, retry};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// # async fn get(key: &str) -> Result<String, Failed> { Ok(key.to_owned()) }
    /// static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
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
    pub fn hedge(self, hedge: &Hedge) -> HedgedRetry<'_, Self> {
        HedgedRetry { call: self, hedge }
    }
}

impl<S, F, P, T, O, L> HedgedRetry<'_, Retry<S, F, P, T, O, L>>
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
            let Self { mut call, hedge } = self;
            let started = start(&call.timer);
            let mut operation = call.call().begin(call.limits);
            let mut kept = Kept::<F, L>::new(&operation, &call.timer);
            let (body, sleep, second_body, second_sleep) = (pin!(None), pin!(None), pin!(None), pin!(None));
            let (mut first, mut second) = (Runner::new(body, sleep), Runner::new(second_body, second_sleep));
            let mut due = pin!(None);
            // The time until the hedge, as long as there can be one.
            let mut delay = hedge.wait();
            let mut was_sent = false;
            if call.call().is_delayed(&mut operation) {
                call.call().delay(&mut operation).await;
            }
            let end = loop {
                loop {
                    let Some(wait) = call.call().wait(&mut operation) else { break };
                    wait.await;
                }
                let mut pair = Pair { other: None, failed: None };
                call.start(&mut operation, &kept, &mut first);
                let mut ended = poll_fn(|context| Poll::Ready(first.poll(context))).await.map(Raced::First);
                let mut is_polled = true;
                if ended.is_pending()
                    && let Some(delay) = delay
                {
                    due.set(Some(call.timer.sleep(delay)));
                }
                let (outcome, directive) = loop {
                    let raced = match ended {
                        Poll::Ready(raced) => raced,
                        Poll::Pending => {
                            poll_fn(|context| {
                                // After its first poll, the first attempt is not polled again in the same poll of the call.
                                if !mem::take(&mut is_polled)
                                    && let Poll::Ready(attempted) = first.poll(context)
                                {
                                    return Poll::Ready(Raced::First(attempted));
                                }
                                if let Poll::Ready(attempted) = second.poll(context) {
                                    return Poll::Ready(Raced::Hedge(attempted));
                                }
                                due.as_mut()
                                    .as_pin_mut()
                                    .map_or(Poll::Pending, |due| due.poll(context).map(|()| Raced::Due))
                            })
                            .await
                        }
                    };
                    ended = Poll::Pending;
                    let flow = match raced {
                        Raced::First(attempted) => call.ended(
                            &mut operation,
                            &mut kept,
                            &mut pair,
                            Lane::First,
                            attempted,
                            second.is_running(),
                        ),
                        Raced::Hedge(attempted) => {
                            call.ended(&mut operation, &mut kept, &mut pair, Lane::Hedge, attempted, first.is_running())
                        }
                        Raced::Due => {
                            let waited = delay.take().unwrap_or_default();
                            let rest = call.reached(&mut operation, &kept, &mut pair, &mut second, hedge, waited);
                            due.set(rest.map(|rest| call.timer.sleep(rest)));
                            delay = rest.map(|rest| waited.saturating_add(rest));
                            was_sent = pair.other.is_some();
                            ControlFlow::Continue(())
                        }
                    };
                    if let ControlFlow::Break(settled) = flow {
                        break settled;
                    }
                };
                // The loser is dropped before the strategy learns of the end, and so is its token. It is not released, because the
                // server worked for it.
                due.set(None);
                first.stop();
                second.stop();
                if matches!(directive, Some(RetryDirective::Succeed { .. })) {
                    if delay.is_some() {
                        hedge.answered();
                    }
                } else {
                    operation.turn_to(Lane::Hedge, &mut pair.other);
                }
                drop(pair);
                // Retries have no hedge.
                delay = None;
                if let ControlFlow::Break(mut end) = call.settle(&mut operation, &mut kept, outcome, directive) {
                    end.attempts = end.attempts.max(1 + u32::from(was_sent));
                    break end;
                }
                if call.call().is_delayed(&mut operation) {
                    call.call().delay(&mut operation).await;
                }
            };
            conclude(started, &call.timer, end)
        }
    }
}

/// What happens first while attempts run.
enum Raced<R> {
    First(R),
    Hedge(R),
    /// The delay before the hedge is over.
    Due,
}

/// What the attempts that run together have left behind.
struct Pair<K, R> {
    /// The other token, if there is a hedge.
    other: Option<OtherToken<K>>,
    /// The failure of the attempt that ended first, which was worth a retry.
    failed: Option<(R, RetryDirective)>,
}

/// The runner of an attempt of a call.
type RunnerOf<'a, F, T, L> =
    Runner<'a, <F as AsyncAttempts>::Future, <L as TimeLimits>::Sleep<<T as Timer>::Sleep>, <L as TimeLimits>::Cut>;

impl<S, F, P, T, O, L> Retry<S, F, P, T, O, L>
where
    S: RetryStrategy,
    F: AsyncAttempts,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<F::Outcome>,
    P: RetryPolicy<F::Outcome>,
{
    /// Starts the attempt whose token the operation holds.
    fn start(&mut self, operation: &mut OperationOf<S, L, O>, kept: &Kept<F, L>, runner: &mut RunnerOf<'_, F, T, L>) {
        let (deadline, sleep) = self.call().deadline(operation);
        let (number, time_left) = (operation.attempts(), operation.time_left());
        runner.start(deadline, sleep, || self.function.attempt.attempt(&kept.state, number, time_left));
    }

    /// Starts the hedge after the delay, if there is one. Returns the rest of a delay that has grown since.
    fn reached(
        &mut self,
        operation: &mut OperationOf<S, L, O>,
        kept: &Kept<F, L>,
        pair: &mut Pair<S::Token, F::Outcome>,
        runner: &mut RunnerOf<'_, F, T, L>,
        hedge: &Hedge,
        waited: Duration,
    ) -> Option<Duration> {
        match hedge.reached(waited) {
            Due::Later(rest) => return Some(rest),
            Due::AllSlow => {}
            Due::Now => {
                pair.other = self.call().buy_hedge(operation).ok();
                if pair.other.is_some() {
                    self.start(operation, kept, runner);
                }
            }
        }
        None
    }

    /// Decides on the end of an attempt: the call settles this outcome, or waits for the other attempt. There is no directive if the
    /// time is over.
    fn ended(
        &mut self,
        operation: &mut OperationOf<S, L, O>,
        kept: &mut Kept<F, L>,
        pair: &mut Pair<S::Token, F::Outcome>,
        lane: Lane,
        attempted: Result<F::Outcome, L::Cut>,
        other_runs: bool,
    ) -> ControlFlow<(F::Outcome, Option<RetryDirective>)> {
        operation.turn_to(lane, &mut pair.other);
        let outcome = match attempted {
            Ok(outcome) => outcome,
            Err(cut) => match OperationOf::<S, L, O>::cut(cut, &mut kept.last) {
                ControlFlow::Continue(outcome) => outcome,
                ControlFlow::Break(outcome) => {
                    let last = pair.failed.take().map_or(outcome, |(failed, _)| failed);
                    return ControlFlow::Break((last, None));
                }
            },
        };
        let directive = self.call().evaluate(operation, &self.policy, &outcome);
        if pair.other.is_none() {
            return ControlFlow::Break((outcome, Some(directive)));
        }
        let is_decisive = match directive {
            RetryDirective::Succeed { .. } => true,
            RetryDirective::Fail { .. } => lane == Lane::First,
            RetryDirective::Retry { .. } if other_runs => {
                pair.failed = Some((outcome, directive));
                return ControlFlow::Continue(());
            }
            RetryDirective::Retry { .. } => {
                let both = pair.failed.as_ref().map_or(directive, |(_, other)| worse(*other, directive));
                return ControlFlow::Break((outcome, Some(both)));
            }
        };
        if is_decisive {
            return ControlFlow::Break((outcome, Some(directive)));
        }
        match pair.failed.take() {
            Some((failed, directive)) => ControlFlow::Break((failed, Some(directive))),
            None => ControlFlow::Continue(()),
        }
    }

    /// Lets the strategy decide whether another attempt follows, and stores the state for it.
    fn settle(
        &mut self,
        operation: &mut OperationOf<S, L, O>,
        kept: &mut Kept<F, L>,
        outcome: F::Outcome,
        directive: Option<RetryDirective>,
    ) -> ControlFlow<End<F::Outcome>> {
        let Self { function: Function { strategy, attempt, name }, timer, observer, .. } = self;
        let call = Call::new(name, strategy).with_clock(timer).with_observer(observer);
        let Kept { state, last } = kept;
        let directive = directive.map(|directive| state.remember(directive));
        let decision = operation.settle_or_end(call, directive, attempt.driver(state, &outcome));
        operation.finish(call, decision, last, outcome)
    }
}
