//! Long polls: an operation whose retry the quota refuses waits for the delay of that retry before it ends.

use crate::script::Error;
use crate::support::timers::Noted;
use crate::support::{Attempt, Failed, Flaky, Recorder, assert_send, millis, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_config::{RetryConfig, RetryMode};
use retry_core::strategy::{ForeignToken, LongPolling};
use retry_core::time::{BlockingTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErasedStrategy, Event, EventKind, Failure, Jitter, Observer, RetryError,
    RetryErrorType, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, Success, TimedOut, retry,
    retry_blocking, retryable, test,
};
use retry_limits::PacedRetryStrategy;
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// Delays of 1, 2, 4 and 8 seconds, and a quota that pays for this many retries.
const fn paying_for(retries: u32) -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(5 * retries)
}

#[retryable(strategy = strategy)]
async fn attribute<S: RetryStrategy>(strategy: &LongPolling<S>, flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

/// Returns the outcome of the attribute and the closure form, which must be the same, and its time.
async fn both<S: RetryStrategy>(
    strategy: impl Fn() -> S,
    failures: u32,
    error: Failed,
) -> (Result<u32, Failed>, Duration) {
    let (started, flaky) = (Instant::now(), Flaky::new(failures, error));
    let outcome = attribute(&LongPolling::over(strategy()), &flaky).await;
    let elapsed = started.elapsed();
    let (started, flaky) = (Instant::now(), Flaky::new(failures, error));
    assert_eq!(retry(&LongPolling::over(strategy()), || ready(flaky.call())).run().await, outcome);
    assert_eq!(started.elapsed(), elapsed);
    (outcome, elapsed)
}

// Rule R20.
#[tokio::test(start_paused = true)]
async fn a_poll_whose_retry_the_quota_refuses_waits_for_the_delay_of_that_retry() {
    let refused = Err(Failed::SAFE);
    assert_eq!(both(|| paying_for(0), 9, Failed::SAFE).await, (refused, secs(1)));
    assert_eq!(both(|| paying_for(2), 9, Failed::SAFE).await, (refused, secs(1 + 2 + 4)));
    let hint = Failed::SAFE.after(secs(7));
    assert_eq!(both(|| paying_for(0), 9, hint).await, (Err(hint), secs(7)), "a wait that the server asks for counts");
    let no_delay = || paying_for(0).backoff(Duration::ZERO, Duration::ZERO);
    assert_eq!(both(no_delay, 9, Failed::SAFE).await, (refused, Duration::ZERO));

    let strategy = paying_for(1);
    let polls = LongPolling::over(&strategy);
    let report = retry(&polls, || ready(Err::<(), _>(Failed::SAFE))).report().await;
    assert_eq!((report.attempts, report.reason), (2, Some(RetryError::QuotaExhausted)));
    assert_eq!((report.elapsed, report.waited, polls.inner().quota().available()), (secs(1 + 2), secs(2), 0));
    let twice = LongPolling::over(LongPolling::over(paying_for(1)));
    let twice = retry(&twice, || ready(Err::<(), _>(Failed::SAFE)));
    assert_eq!(twice.report().await.elapsed, secs(1 + 2), "asked for twice, it waits once");
}

// Rule R20.
#[tokio::test(start_paused = true)]
async fn all_other_outcomes_are_returned_at_once() {
    let at_once = |error| (Err(error), Duration::ZERO);
    assert_eq!(both(|| paying_for(0), 0, Failed::SAFE).await, (Ok(1), Duration::ZERO));
    assert_eq!(both(|| paying_for(9), 1, Failed::SAFE).await, (Ok(2), secs(1)));
    assert_eq!(both(|| paying_for(0), 9, Failed::FATAL).await, at_once(Failed::FATAL));
    assert_eq!(both(|| paying_for(0).max_attempts(1), 9, Failed::SAFE).await, at_once(Failed::SAFE));
    let hint = Failed::SAFE.after(secs(301));
    assert_eq!(both(|| paying_for(0), 9, hint).await, at_once(hint));
    let off = || {
        let strategy = paying_for(0);
        strategy.set_enabled(false);
        strategy
    };
    assert_eq!(both(off, 9, Failed::SAFE).await, at_once(Failed::SAFE));
    let refusing = || Recorder::new().refusing_initial_token(RetryError::Refused);
    assert_eq!(both(refusing, 9, Failed::SAFE).await, at_once(Failed::SAFE));
    // Without `LongPolling`, an empty quota ends an operation immediately.
    let started = Instant::now();
    assert!(retry(&paying_for(0), || ready(Err::<(), _>(Failed::SAFE))).run().await.is_err());
    assert_eq!(started.elapsed(), Duration::ZERO);
}

// Rules R16, R20.
#[tokio::test(start_paused = true)]
async fn the_wait_is_that_of_each_strategy() {
    static SCOPES: ScopedRetryStrategy<u8> = ScopedRetryStrategy::new(|| paying_for(0));
    let refused = (Err(Failed::SAFE), secs(1));
    assert_eq!(both(|| AdaptiveRetryStrategy::over(paying_for(0)), 9, Failed::SAFE).await, refused);
    assert_eq!(both(|| PacedRetryStrategy::over(paying_for(0)).ramp(false), 9, Failed::SAFE).await, refused);
    assert_eq!(both(|| ErasedStrategy::new(paying_for(0)), 9, Failed::SAFE).await, refused);
    assert_eq!(both(|| SCOPES.scope(&1), 9, Failed::SAFE).await, refused);
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        let config = RetryConfig::new().mode(mode).paced_ramp(false);
        assert_eq!(both(|| config.build_on(paying_for(0)).unwrap(), 9, Failed::SAFE).await, refused, "{mode}");
    }

    // A strategy that does not say how long.
    assert_eq!(both(|| Recorder::new().refusing_retries(RetryError::QuotaExhausted), 9, Failed::SAFE).await.1, secs(0));
}

// Rules L7, R20.
#[tokio::test(start_paused = true)]
async fn throttled_attempts_of_the_paced_strategy_do_not_lengthen_the_wait() {
    let paced = || PacedRetryStrategy::over(paying_for(0)).ramp(false);
    let config = RetryConfig::new().mode(RetryMode::Paced).paced_ramp(false);
    let configured = || config.build_on(paying_for(0)).unwrap();
    let wait = async |strategy: &dyn Fn() -> ErasedStrategy| {
        let (attempts, failed) = (Cell::new(0), Cell::new(None));
        let attempt = || {
            attempts.set(attempts.get() + 1);
            failed.set(Some(Instant::now()));
            ready(Err::<(), _>(if attempts.get() <= 4 { Failed::THROTTLED } else { Failed::SAFE }))
        };
        assert_eq!(retry(&LongPolling::over(strategy()), attempt).run().await, Err(Failed::SAFE));
        assert_eq!(attempts.get(), 5);
        failed.get().unwrap().elapsed()
    };
    assert_eq!(wait(&|| ErasedStrategy::new(paced())).await, secs(1));
    assert_eq!(wait(&|| ErasedStrategy::new(configured())).await, secs(1));
}

// Rule R20.
#[tokio::test(start_paused = true)]
async fn a_loop_around_a_poll_does_not_spin_while_the_quota_is_empty() {
    let (strategy, polls) = (LongPolling::over(StandardRetryStrategy::aws_2_1().seed(1)), Cell::new(0));
    let poll = async || {
        let call = retry(&strategy, || {
            polls.set(polls.get() + 1);
            ready(Err::<(), _>(Failed::SAFE))
        });
        call.run().await
    };
    let _ = timeout(secs(60), async {
        loop {
            assert_eq!(poll().await, Err(Failed::SAFE));
        }
    })
    .await;
    // The mean backoff of the first retry is 25 ms.
    assert!((2000..3000).contains(&polls.get()), "{}", polls.get());
}

/// A strategy without a quota that refuses each retry, which would have had a delay of 10 s.
struct Refusing;

impl RetryStrategy for Refusing {
    type Token = Attempt;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Recorder::new().acquire_initial_token(&retry_core::TokioTimer)
    }

    fn refresh_retry_token(&self, _: Attempt, _: &Failure, _: &dyn Clock) -> Result<Attempt, RetryError> {
        Err(RetryError::QuotaExhausted)
    }

    fn record_success(&self, _: Attempt, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn refused_delay(&self, _: &Attempt, _: &Failure) -> Duration {
        secs(10)
    }
}

static REFUSING: LongPolling<Refusing> = LongPolling::over(Refusing);

const SAFE: Result<u32, Error> = Err(Error::Failed(Failed::SAFE));

// Rules R20, T1, T8.
#[tokio::test(start_paused = true)]
async fn no_wait_ends_after_max_time() {
    #[retryable(strategy = REFUSING, max_time = max_time, attempt_timeout = "1s")]
    async fn attribute(max_time: Duration, outcome: Result<u32, Error>) -> Result<u32, Error> {
        tokio::time::sleep(millis(500)).await;
        outcome
    }

    let closure = |max_time| {
        let attempt = async || {
            tokio::time::sleep(millis(500)).await;
            SAFE
        };
        retry(&REFUSING, attempt).max_time(max_time).attempt_timeout(secs(1))
    };
    for (max_time, elapsed) in [(secs(60), millis(10_500)), (secs(3), secs(3)), (millis(500), millis(500))] {
        let started = Instant::now();
        assert_eq!(attribute(max_time, SAFE).await, SAFE);
        assert_eq!(started.elapsed(), elapsed);
        let report = closure(max_time).report().await;
        assert_eq!((report.outcome, report.elapsed), (SAFE, elapsed));
        assert_eq!((report.attempts, report.reason), (1, Some(RetryError::QuotaExhausted)));
    }
    // The limits still cut attempts.
    let report = closure(millis(200)).report().await;
    assert!(matches!(report.outcome, Err(Error::TimedOut(_))));
    assert_eq!(report.reason, Some(RetryError::MaxTime));
    let slow = retry(&REFUSING, std::future::pending::<Result<u32, Error>>).attempt_timeout(secs(1));
    let report = slow.deadline(Instant::now() + secs(4)).report().await;
    assert!(matches!(report.outcome, Err(Error::TimedOut(_))));
    assert_eq!((report.elapsed, report.reason), (secs(4), Some(RetryError::QuotaExhausted)));
}

// Rules D1, R20.
#[tokio::test(start_paused = true)]
async fn a_poll_that_is_dropped_while_it_waits_changes_nothing() {
    let (strategy, held) = (paying_for(1), Rc::new(()));
    let attempt = || ready(Err::<(), _>((Failed::SAFE, Rc::clone(&held))));
    let polls = LongPolling::over(&strategy);
    let call = retry(&polls, attempt).when(|_| true).run();
    assert!(timeout(millis(2500), call).await.is_err(), "it waits for the second retry");
    assert_eq!((strategy.quota().available(), Rc::strong_count(&held)), (0, 1));
}

/// Events by their names, with the time of each.
#[derive(Default)]
struct Events(RefCell<Vec<(String, Duration)>>);

impl Observer for Events {
    fn observe(&self, event: &Event) {
        let name = event.kind.as_str();
        let told = match event.kind {
            EventKind::Stopped { reason, error_type, quota, .. } => {
                format!("{name} {reason:?} {error_type:?} {quota:?}")
            }
            _ => name.to_owned(),
        };
        self.0.borrow_mut().push((format!("{} {told}", event.attempt), event.elapsed));
    }
}

// Rules O1, O3, R20.
#[tokio::test(start_paused = true)]
async fn the_wait_is_told_and_the_operation_stops_after_it() {
    #[retryable(strategy = strategy, observer = events, on_retry = |_, event| told.push(event.kind))]
    async fn attribute(
        strategy: &LongPolling<StandardRetryStrategy>,
        events: &Events,
        told: &mut Vec<EventKind>,
    ) -> Result<(), Failed> {
        Err(Failed::THROTTLED)
    }

    let (events, mut told) = (Events::default(), Vec::new());
    let (strategy, started) = (LongPolling::over(paying_for(1)), Instant::now());
    assert_eq!(attribute(&strategy, &events, &mut told).await, Err(Failed::THROTTLED));
    let listed = [
        ("1 attempt_started", 0),
        ("1 attempt_failed", 0),
        ("1 retry_scheduled", 0),
        ("2 attempt_started", 1),
        ("2 attempt_failed", 1),
        ("2 waiting_for_service", 1),
        ("2 stopped QuotaExhausted None Some(0)", 3),
    ];
    assert_eq!(events.0.take(), listed.map(|(event, elapsed)| (event.to_owned(), secs(elapsed))));
    assert_eq!(told[0].delay(), Some(secs(1)));
    assert!(matches!(
        told[1..],
        [
            EventKind::WaitingForService { error_type: Some(RetryErrorType::Throttling), .. },
            EventKind::Stopped { reason: RetryError::QuotaExhausted, .. }
        ]
    ));

    let closure_told = RefCell::new(Vec::new());
    let attempt = || ready(Err::<(), _>(Failed::THROTTLED));
    let call = retry(&strategy, attempt).observer(&events).on_retry(|_, event| {
        closure_told.borrow_mut().push((event.kind, started.elapsed()));
    });
    assert_eq!(call.run().await, Err(Failed::THROTTLED));
    let stopped = ("1 stopped QuotaExhausted None Some(0)".to_owned(), secs(1));
    assert_eq!(events.0.take().last(), Some(&stopped));
    assert_eq!(closure_told.take(), [(told[1], secs(3)), (told[2], secs(3 + 1))]);
}

// Rule R20.
#[tokio::test(start_paused = true)]
async fn the_end_is_reported_after_the_wait() {
    type End = (u32, Option<RetryError>, Duration);

    #[retryable(strategy = strategy, on_end = |report| {
        ended.set(Some((report.attempts, report.reason, report.elapsed)));
    })]
    async fn poll(strategy: &LongPolling<StandardRetryStrategy>, ended: &Cell<Option<End>>) -> Result<(), Failed> {
        Err(Failed::SAFE)
    }

    let ended = Cell::new(None);
    assert_eq!(poll(&LongPolling::over(paying_for(1)), &ended).await, Err(Failed::SAFE));
    assert_eq!(ended.get(), Some((2, Some(RetryError::QuotaExhausted), secs(1 + 2))));
}

// Rules M9, R20.
#[test]
fn functions_that_block_wait_too() {
    #[retryable(strategy = strategy, timer = time, blocking)]
    fn attribute(strategy: &LongPolling<StandardRetryStrategy>, time: &Noted, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    #[retryable(strategy = REFUSING, timer = time, blocking, max_time = "3s", on_retry = |_, _| told += 1)]
    fn limited(time: &Noted, mut told: u32) -> Result<u32, Failed> {
        if told == 0 { Err(Failed::SAFE) } else { Ok(told) }
    }

    let (time, waits) = (Noted::default(), [("block", secs(1)), ("park", secs(2))]);
    assert_eq!(attribute(&LongPolling::over(paying_for(1)), &time, &Flaky::new(9, Failed::SAFE)), Err(Failed::SAFE));
    assert_eq!(time.asked(), waits);
    let (strategy, flaky) = (LongPolling::over(paying_for(1)), Flaky::new(9, Failed::SAFE));
    let report = retry_blocking(&strategy, || flaky.call()).timer(&time).report();
    assert_eq!((time.asked(), report.reason), (waits.to_vec(), Some(RetryError::QuotaExhausted)));
    assert_eq!((report.attempts, report.elapsed), (2, secs(1 + 2)));
    assert_eq!(limited(&time, 0), Err(Failed::SAFE));
    assert_eq!(time.asked(), [("park", secs(3))]);
}

// Rules R20, W1.
#[tokio::test(start_paused = true)]
async fn requests_through_a_layer_wait_too() {
    let (strategy, flaky, started) = (paying_for(1), Flaky::new(9, Failed::SAFE), Instant::now());
    let layer = RetryLayer::with_handle(LongPolling::over(&strategy));
    assert_eq!(layer.layer(service_fn(|()| ready(flaky.call()))).oneshot(()).await, Err(Failed::SAFE));
    assert_eq!((started.elapsed(), flaky.calls()), (secs(1 + 2), 2));

    let started = Instant::now();
    let layer = RetryLayer::new(&REFUSING).max_time(secs(4));
    assert_eq!(layer.layer(service_fn(|()| ready(flaky.call()))).oneshot(()).await, Err(Failed::SAFE));
    assert_eq!((started.elapsed(), flaky.calls()), (secs(4), 3));
}

// Rules G2, R20.
#[tokio::test]
async fn a_test_guard_skips_the_wait() {
    let (guard, started) = (test::begin().quota(0), std::time::Instant::now());
    let (strategy, flaky) =
        (LongPolling::over(paying_for(1).backoff(secs(100), secs(100))), Flaky::new(9, Failed::SAFE));
    assert_eq!(attribute(&strategy, &flaky).await, Err(Failed::SAFE));
    // The clock runs between the failure and the wait.
    let [skipped] = guard.skipped()[..] else { panic!("{:?}", guard.skipped()) };
    assert!(skipped > secs(99) && skipped <= secs(100), "{skipped:?}");
    guard.only().assert_ended(1, Some(RetryError::QuotaExhausted));
    let waited = guard.only().waited;
    assert!(waited >= secs(99) && guard.only().delays == [waited], "{waited:?}");
    assert!(started.elapsed() < secs(100));
}

#[tokio::test(start_paused = true)]
async fn the_future_is_send_if_the_outcome_is() {
    assert_eq!(assert_send(attribute(&LongPolling::over(paying_for(0)), &Flaky::new(0, Failed::SAFE))).await, Ok(1));
    let attempt = || ready(Err::<(), _>(TimedOut::new(retry_core::TimeLimit::Attempt, secs(1))));
    assert!(assert_send(retry(&LongPolling::over(paying_for(0)), attempt).run()).await.is_err());
}

// Rules K4, R20.
#[test]
fn a_wait_ends_after_one_sleep_if_the_clock_stands_still() {
    /// A timer whose sleeps are over immediately.
    struct Standing(Cell<u32>);

    impl Clock for Standing {
        fn now(&self) -> Timestamp {
            Timestamp::from_origin(secs(7))
        }
    }

    impl BlockingTimer for Standing {
        fn block(&self, _: Duration) {
            self.0.set(self.0.get() + 1);
        }
    }

    let (timer, flaky) = (Standing(Cell::new(0)), Flaky::new(9, Failed::SAFE));
    let strategy = LongPolling::over(paying_for(0));
    let report = retry_blocking(&strategy, || flaky.call()).timer(&timer).report();
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::QuotaExhausted)));
    assert_eq!((flaky.calls(), timer.0.get()), (1, 1));
}
