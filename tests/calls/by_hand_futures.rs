//! Operations that are driven by hand, with futures for waits, time limits and hedges. The layer of `retry-tower` shows the rest.

use crate::support::scales::Scales;
use crate::support::timers::Noted;
use crate::support::{Failed, Recorder, millis, secs};
use retry_core::drive::{Cut, Due, HedgedAttempts, Next, Operation, Settled};
use retry_core::observe::NoHedge;
use retry_core::retry::OptionalObserver;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{
    AttemptContext, Hedge, Jitter, RetryDirective, RetryError, RetryErrorType, RetryInfo, RetryPolicy, RetryQuota,
    RetryStrategy, StandardRetryPolicy, StandardRetryStrategy, Stop, TimeLimit, TimedOut, Timer, TokioTimer, test,
};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::time::{Instant, sleep};

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
enum Error {
    #[retry(transparent)]
    Failed(Failed),
    #[retry(transparent)]
    TimedOut(TimedOut),
}

type Outcome = Result<u32, Error>;

const SAFE: Outcome = Err(Error::Failed(Failed::SAFE));

/// Drives an operation with futures. Returns the outcome, and the reason to stop.
async fn driven<S: RetryStrategy, T: Timer, O: OptionalObserver>(
    mut operation: Operation<S, T, O>,
    mut send: impl AsyncFnMut(AttemptContext) -> Outcome,
) -> (Option<Outcome>, Option<RetryError>) {
    let mut last = None;
    loop {
        match operation.due() {
            Due::Wait(wait) => wait.await,
            Due::Stop(ended) => return (ended.last_or(last, |cut| Some(Err(Error::TimedOut(cut)))), ended.reason),
            Due::Attempt => {
                let (mut attempt, mut time_left) = (operation.attempt(), operation.time_left());
                operation.sent();
                let mut sending = pin!(send(operation.context()));
                let polled = poll_fn(|context| match attempt.poll(|| sending.as_mut().poll(context)) {
                    Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                    Poll::Pending => match &mut time_left {
                        Some(time_left) => pin!(time_left).poll(context).map(|()| None),
                        None => Poll::Pending,
                    },
                });
                let outcome = match polled.await {
                    Some(outcome) => outcome,
                    None => match operation.cut() {
                        Cut::Attempt(cut) => retry_core::drive::Outcome::new(Err(Error::TimedOut(cut))),
                        Cut::Operation(ended) => return (ended.last_or(last, |_| None), ended.reason),
                    },
                };
                let directive = operation.evaluate(&StandardRetryPolicy::new().idempotent(true), &outcome);
                match operation.settle(directive) {
                    Settled::Retry => last = outcome.kept(),
                    Settled::Done(ended) => return (Some(outcome.last()), ended.reason),
                }
            }
        }
    }
}

// Rules R24, T1.
#[tokio::test(start_paused = true)]
async fn a_driver_of_futures_waits_and_is_cut_as_other_forms_are() {
    let (strategy, started, seen) = (standard(), Instant::now(), RefCell::new(Vec::new()));
    let builder = Operation::builder(&strategy, "get").clock(TokioTimer).attempt_timeout(millis(500));
    let (outcome, reason) = driven(builder.begin(), async |context| {
        seen.borrow_mut().push((context.attempt(), context.time_left()));
        match context.attempt() {
            1 => SAFE,
            2 => {
                sleep(secs(9)).await;
                Ok(2)
            }
            number => Ok(number),
        }
    })
    .await;
    assert_eq!((outcome, reason), (Some(Ok(3)), None));
    assert_eq!(started.elapsed(), secs(1) + millis(500) + secs(2));
    assert_eq!(seen.take(), [1, 2, 3].map(|number| (number, Some(millis(500)))));
}

// Rules R24, W2.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_can_not_be_repeated_ends_the_operation_for_free() {
    let strategy = standard();
    let mut operation = Operation::builder(&strategy, "get").clock(TokioTimer).begin();
    operation.not_repeatable();
    assert!(matches!(operation.due(), Due::Attempt), "without an attempt, nothing is said");
    operation.sent();
    operation.not_repeatable();
    let directive = operation.evaluate(&StandardRetryPolicy::new(), &retry_core::drive::Outcome::new(SAFE));
    let Settled::Done(ended) = operation.settle(directive) else { panic!("it is final") };
    assert_eq!((ended.reason, ended.attempts), (Some(RetryError::NotRepeatable), 1));
    assert!(matches!(operation.due(), Due::Stop(again) if again == ended));
    assert!(operation.time_left().is_none());
    assert_eq!(strategy.quota().available(), 500);
}

// Rule R24.
#[tokio::test(start_paused = true)]
async fn a_wait_that_began_as_a_time_goes_on_as_a_future() {
    let (strategy, started) = (standard(), Instant::now());
    let mut operation = Operation::builder(&strategy, "get").clock(TokioTimer).begin();
    assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
    operation.sent();
    let directive = operation.evaluate(&StandardRetryPolicy::new(), &retry_core::drive::Outcome::new(SAFE));
    assert_eq!(operation.settle(directive), Settled::Retry);
    assert_eq!(operation.next(Waker::noop()), Next::Wait(secs(1)));
    sleep(millis(400)).await;
    let Due::Wait(wait) = operation.due() else { panic!("the rest of the wait") };
    wait.await;
    assert_eq!(started.elapsed(), secs(1));
    assert!(matches!(operation.due(), Due::Attempt));
}

// Rules G2, G3, R24.
#[tokio::test]
async fn a_test_guard_skips_waits_that_are_futures() {
    let (strategy, guard) = (standard(), test::begin());
    let operation = Operation::builder(&strategy, "get").clock(TokioTimer).begin();
    assert_eq!(driven(operation, async |_| SAFE).await, (Some(SAFE), Some(RetryError::MaxAttempts)));
    guard.only().assert_ended(5, Some(RetryError::MaxAttempts));
    // One that `next` has begun.
    let mut operation = Operation::builder(&strategy, "get").clock(TokioTimer).begin();
    assert!(matches!(operation.due(), Due::Attempt));
    operation.sent();
    let directive = operation.evaluate(&StandardRetryPolicy::new(), &retry_core::drive::Outcome::new(SAFE));
    assert_eq!(operation.settle(directive), Settled::Retry);
    assert_eq!(operation.next(Waker::noop()), Next::Wait(secs(0)));
    while let Due::Wait(wait) = operation.due() {
        wait.await;
    }
    assert!(matches!(operation.due(), Due::Attempt));
}

// Rules R24, T17.
#[tokio::test(start_paused = true)]
async fn a_stop_in_an_arc_ends_the_wait() {
    let (strategy, stop) = (standard(), Arc::new(Stop::new()));
    let operation = Operation::builder(&strategy, "get").clock(TokioTimer).stop(Arc::clone(&stop)).begin();
    let started = Instant::now();
    let stops = async {
        sleep(millis(300)).await;
        stop.stop();
    };
    let (ended, ()) = tokio::join!(driven(operation, async |_| SAFE), stops);
    assert_eq!(ended, (Some(SAFE), Some(RetryError::Stopped)));
    assert_eq!((started.elapsed(), strategy.quota().available()), (millis(300), 500));
    // Before the first attempt, there is no outcome.
    let operation = Operation::builder(&strategy, "get").clock(TokioTimer).stop(stop).begin();
    let (outcome, _) = driven(operation, async |_| SAFE).await;
    assert!(matches!(outcome, Some(Err(Error::TimedOut(cut))) if cut.limit() == TimeLimit::Stop));
}

// Rule R15.
#[test]
fn an_operation_without_elapsed_reads_no_clock() {
    let (strategy, clock) = (Recorder::new(), crate::support::ByHand::at(secs(1)));
    for (is_timed, readings) in [(true, 2), (false, 0)] {
        let read = clock.readings_of(|| {
            let builder = Operation::builder(&strategy, "get").clock(&clock);
            let mut operation = if is_timed { builder } else { builder.without_elapsed() }.begin();
            assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
            operation.sent();
            let Settled::Done(ended) = operation.settle(RetryDirective::succeed()) else {
                panic!("a success is final")
            };
            assert_eq!(ended.elapsed, secs(0));
        });
        assert_eq!(read, readings);
    }
}

/// Attempts that take these times.
struct Timed<'a> {
    policy: StandardRetryPolicy,
    plan: &'a [(u64, Outcome)],
    made: &'a Cell<usize>,
    permits: bool,
}

impl<'a> HedgedAttempts for Timed<'a> {
    type Outcome = Outcome;
    type Policy = StandardRetryPolicy;
    type Permit = ();

    fn policy(&self) -> &StandardRetryPolicy {
        &self.policy
    }

    fn permit_hedge(&mut self, _: &mut Context<'_>) -> Result<(), NoHedge> {
        if self.permits { Ok(()) } else { Err(NoHedge::NotReady) }
    }

    fn prepare(&mut self, permit: Option<()>) {
        assert_eq!(permit.is_some(), self.permits && self.made.get() == 1);
    }

    fn attempt(&mut self, context: &dyn Fn() -> AttemptContext) -> impl Future<Output = Outcome> + use<'a> {
        let made = self.made.get();
        self.made.set(made + 1);
        if self.permits {
            assert_eq!(context().attempt() as usize, made + 1);
        }
        let (time, outcome) = self.plan[made];
        async move {
            sleep(millis(time)).await;
            outcome
        }
    }

    fn is_sent(&self) -> bool {
        self.made.get() > 0
    }

    fn timed_out(&mut self, timed_out: TimedOut) -> Option<Outcome> {
        Some(Err(Error::TimedOut(timed_out)))
    }
}

// Rules R24, V4, V6.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_driven_by_hand_can_have_a_hedge() {
    static AFTER: Hedge = Hedge::after(millis(100));

    for (permits, plan, outcome, time, calls) in [
        (true, &[(1000, Ok(1)), (30, Ok(2))][..], Ok(2), 130, 2),
        (false, &[(1000, Ok(1))], Ok(1), 1000, 1),
        // Both fail: the retry has the delay of the second one.
        (true, &[(300, SAFE), (10, SAFE), (0, Ok(9))], Ok(9), 300 + 2000, 3),
        // The time limit of the operation is over, and then the last outcome is returned.
        (true, &[(300, SAFE), (10, SAFE), (9000, Ok(9))], SAFE, 4000, 3),
    ] {
        let (strategy, started, made) = (standard(), Instant::now(), Cell::new(0));
        let mut attempts = Timed { policy: StandardRetryPolicy::new().idempotent(true), plan, made: &made, permits };
        let operation = Operation::builder(&strategy, "get").clock(TokioTimer).max_time(secs(4)).begin();
        let (got, ended) = operation.race(&AFTER, &mut attempts).await;
        assert_eq!(got, outcome);
        let (reason, limit) =
            if time == 4000 { (Some(RetryError::MaxTime), Some(TimeLimit::Operation)) } else { (None, None) };
        assert_eq!((ended.attempts as usize, ended.reason, ended.elapsed), (calls, reason, millis(time)));
        assert_eq!(ended.timed_out.map(|timed_out| timed_out.limit()), limit);
        assert_eq!((started.elapsed(), made.get()), (millis(time), calls));
    }
}

// Rules R24, D1.
#[tokio::test(start_paused = true)]
async fn a_race_that_is_dropped_before_its_first_attempt_is_sent_gives_the_token_back() {
    static AFTER: Hedge = Hedge::after(millis(100));

    let (strategy, made) = (Recorder::new().waiting([secs(1)]), Cell::new(0));
    let mut attempts = Timed { policy: StandardRetryPolicy::new(), plan: &[(0, Ok(1))], made: &made, permits: true };
    let mut race = Box::pin(Operation::builder(&strategy, "get").clock(TokioTimer).begin().race(&AFTER, &mut attempts));
    crate::support::poll_once(race.as_mut());
    drop(race);
    assert_eq!((made.get(), strategy.calls().last()), (0, Some(&"release")));
}

// Rules R22, R24.
#[tokio::test(start_paused = true)]
async fn a_hedge_of_a_race_has_the_weight_of_its_operation() {
    static AFTER: Hedge = Hedge::after(millis(100));
    static SCALES: LimitedRetryStrategy<Scales> = Scales::strategy();

    let plan = &[(1000, Ok(1)), (30, Ok(2))];
    let policy = StandardRetryPolicy::new().idempotent(true);
    let mut attempts = Timed { policy, plan, made: &Cell::new(0), permits: true };
    let operation = Operation::builder(&SCALES, "get").clock(TokioTimer).weight(9).begin();
    assert_eq!(operation.race(&AFTER, &mut attempts).await.0, Ok(2));
    assert_eq!(SCALES.limiter().take(), ["weighs 9", "weighs 9", "succeeded"]);
}

/// Attempts that end with progress before they are sent.
struct Unsent(ByProgress);

/// A policy for which each outcome is a failure with progress.
struct ByProgress;

impl RetryPolicy<Outcome> for ByProgress {
    fn evaluate(&self, _: &Outcome) -> RetryDirective {
        RetryDirective::retry(RetryErrorType::Other).progressed(true)
    }
}

impl HedgedAttempts for Unsent {
    type Outcome = Outcome;
    type Policy = ByProgress;
    type Permit = ();

    fn policy(&self) -> &ByProgress {
        &self.0
    }

    fn permit_hedge(&mut self, _: &mut Context<'_>) -> Result<(), NoHedge> {
        Ok(())
    }

    fn prepare(&mut self, _: Option<()>) {}

    fn attempt(&mut self, _: &dyn Fn() -> AttemptContext) -> impl Future<Output = Outcome> + use<> {
        std::future::ready(SAFE)
    }

    fn is_sent(&self) -> bool {
        false
    }

    fn timed_out(&mut self, timed_out: TimedOut) -> Option<Outcome> {
        Some(Err(Error::TimedOut(timed_out)))
    }
}

// Rules R24, R25.
#[tokio::test]
async fn a_race_records_no_progress_of_an_attempt_that_was_not_sent() {
    static AFTER: Hedge = Hedge::after(millis(100));

    let strategy = Recorder::new().refusing_retries(RetryError::QuotaExhausted);
    let operation = Operation::builder(&strategy, "get").clock(TokioTimer).begin();
    assert_eq!(operation.race(&AFTER, &mut Unsent(ByProgress)).await.0, SAFE);
    assert_eq!(strategy.calls(), ["initial", "ready", "refresh"]);
}

// Rule R15.
#[test]
fn a_wait_that_is_over_creates_no_sleep() {
    let (strategy, noted) = (Recorder::new().waiting([secs(1)]), Noted::default());
    let mut operation = Operation::builder(&strategy, "get").clock(&noted).begin();
    assert_eq!(operation.next(Waker::noop()), Next::Wait(secs(1)));
    noted.timer.advance(secs(1));
    assert!(matches!(operation.due(), Due::Attempt));
    assert_eq!(noted.asked(), []);
}
