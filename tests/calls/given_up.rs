//! An `on_retry` that ends its operation in place of the retry.

use crate::script::{Error, SAFE};
use crate::support::{kept, secs};
use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::drive::{Due, Next, Operation, Settled};
use retry_core::time::ManualTimer;
use retry_core::{
    Event, Hedge, Jitter, Observer, PatientRetryStrategy, Report, RetryDirective, RetryError, RetryErrorType,
    RetryQuota, StandardRetryPolicy, StandardRetryStrategy, TokioTimer, policy_fn, retry, retry_blocking,
    retry_with_context, retryable, test,
};
use retry_core::{RetryPolicy, RetryStrategy};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::future::ready;
use std::ops::ControlFlow;
use std::task::Waker;
use std::time::Duration;
use tokio::time::Instant;

type Outcome = Result<u32, Error>;

/// Delays of 1, 2 and so on seconds, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// The kinds and the reasons of events.
#[derive(Default)]
struct Told(RefCell<Vec<String>>);

impl Observer for Told {
    fn observe(&self, event: &Event) {
        let reason = event.kind.reason().map_or("", |reason| reason.as_str());
        self.0.borrow_mut().push(format!("{} {reason}", event.kind.as_str()).trim_end().to_owned());
    }
}

/// Counts failures, and breaks at the second one.
fn second(failures: &Cell<u32>) -> ControlFlow<()> {
    failures.set(failures.get() + 1);
    if failures.get() < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
}

#[retryable(strategy = strategy, on_retry = |_, _| second(told), on_end = |report| *end = Some((report.attempts, report.reason)))]
async fn annotated(
    strategy: &StandardRetryStrategy,
    told: &Cell<u32>,
    end: &mut Option<(u32, Option<RetryError>)>,
) -> Outcome {
    SAFE
}

#[retryable(strategy = strategy, blocking, timer = timer, on_retry = |_, _| second(told))]
fn blocking(strategy: &StandardRetryStrategy, timer: &ManualTimer, told: &Cell<u32>) -> Outcome {
    SAFE
}

#[retryable(strategy = strategy, hedge = "50ms", idempotent, on_retry = |_, _| second(told))]
async fn hedged(strategy: &StandardRetryStrategy, told: &Cell<u32>) -> Outcome {
    SAFE
}

// Rules O21, W12.
#[tokio::test(start_paused = true)]
async fn break_ends_the_operation_in_place_of_the_retry_and_its_cost_comes_back() {
    static HEDGE: Hedge = Hedge::p95();
    let forms = ["closure", "context", "hedge", "limited", "attribute", "attribute with a hedge", "tower"];
    for form in forms {
        let (strategy, told, began) = (standard(), Cell::new(0), Instant::now());
        let given_up = (2, Some(RetryError::GivenUp));
        let report = |report: Report<Outcome>| {
            assert_eq!((report.attempts, report.reason), given_up, "{form}");
            report.outcome
        };
        let on_retry = |_: &Error, _: &Event| second(&told);
        let outcome = match form {
            "closure" => report(retry(&strategy, || ready(SAFE)).on_retry(on_retry).report().await),
            "context" => report(retry_with_context(&strategy, |_| ready(SAFE)).on_retry(on_retry).report().await),
            "hedge" => {
                let call = retry(&strategy, || ready(SAFE)).on_retry(on_retry);
                report(call.idempotent(true).hedge(&HEDGE).report().await)
            }
            "limited" => report(retry(&strategy, || ready(SAFE)).on_retry(on_retry).max_time(secs(9)).report().await),
            "attribute" => {
                let mut end = None;
                let outcome = annotated(&strategy, &told, &mut end).await;
                assert_eq!(end, Some(given_up));
                outcome
            }
            "attribute with a hedge" => hedged(&strategy, &told).await,
            _ => {
                let end = Cell::new(None);
                let layer = RetryLayer::with_handle(&strategy).on_retry(|_: &Outcome, _: &Event| second(&told));
                let layer = layer.on_end(|report: &Report<&Outcome>| end.set(Some((report.attempts, report.reason))));
                let outcome = layer.layer(service_fn(|()| ready(SAFE))).oneshot(()).await;
                assert_eq!(end.get(), Some(given_up));
                outcome
            }
        };
        assert_eq!((outcome, told.get()), (SAFE, 2), "{form}");
        assert_eq!((began.elapsed(), strategy.quota().available()), (secs(1), 500 - 5), "{form}");
    }
}

// Rule O21.
#[test]
fn a_call_that_blocks_ends_too() {
    let (strategy, timer) = (standard(), ManualTimer::new());
    let told = Cell::new(0);
    let call = retry_blocking(&strategy, || SAFE).timer(&timer).on_retry(|_, _| second(&told));
    let report = call.report();
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 2, Some(RetryError::GivenUp)));
    told.set(0);
    assert_eq!((blocking(&strategy, &timer, &told), told.get()), (SAFE, 2));
    assert_eq!(strategy.quota().available(), 500 - 5 - 5);
}

// Rule O21.
#[tokio::test(start_paused = true)]
async fn the_events_say_so_and_the_closure_is_not_called_again() {
    let (strategy, told) = (standard(), Told::default());
    let called = RefCell::new(Vec::new());
    let call = retry(&strategy, || ready(SAFE)).observer(&told).on_retry(|_, event| {
        called.borrow_mut().push(event.kind.as_str());
        ControlFlow::Break(())
    });
    assert_eq!(call.run().await, SAFE);
    assert_eq!(*called.borrow(), ["retry_scheduled"]);
    let told = told.0.take();
    assert_eq!(told, ["attempt_started", "attempt_failed", "retry_scheduled", "stopped given_up"]);
    assert_eq!(strategy.quota().available(), 500);
}

// Rule O21.
#[tokio::test(start_paused = true)]
async fn a_final_failure_keeps_its_reason() {
    let strategy = standard().max_attempts(1);
    let report = retry(&strategy, || ready(SAFE)).on_retry(|_, _| ControlFlow::Break(())).report().await;
    assert_eq!(report.reason, Some(RetryError::MaxAttempts));
}

// Rules O21, U17.
#[tokio::test(start_paused = true)]
async fn an_operation_that_would_wait_for_the_service_leaves_the_line() {
    let strategy = PatientRetryStrategy::over(standard().quota_capacity(0));
    let told = RefCell::new(Vec::new());
    let call = retry(&strategy, || ready(SAFE)).unlimited_attempts().on_retry(|_, event| {
        told.borrow_mut().push((event.kind.as_str(), strategy.waiting_operations()));
        ControlFlow::Break(())
    });
    let report = call.report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::GivenUp)));
    assert_eq!(*told.borrow(), [("waiting_for_service", Some(1))]);
    assert_eq!(strategy.waiting_operations(), Some(0));
}

// Rule O21.
#[tokio::test(start_paused = true)]
async fn each_of_two_closures_is_called_and_one_that_breaks_is_enough() {
    let (strategy, called) = (standard(), Cell::new(0));
    let call = retry(&strategy, || ready(SAFE)).on_retry(|_, _| ControlFlow::Break(()));
    let report = call.on_retry(|_, _| called.set(called.get() + 1)).report().await;
    assert_eq!((report.attempts, report.reason, called.get()), (1, Some(RetryError::GivenUp), 1));
}

// Rule V7.
#[tokio::test(start_paused = true)]
async fn the_failure_of_two_attempts_at_once_can_end_the_operation() {
    let strategy = standard();
    let hedge = kept(Hedge::after(Duration::from_millis(10)));
    let call = retry(&strategy, || async {
        tokio::time::sleep(secs(1)).await;
        SAFE
    });
    let report = call.idempotent(true).on_retry(|_, _| ControlFlow::Break(())).hedge(hedge).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 2, Some(RetryError::GivenUp)));
    // The hedge was sent, and is paid for.
    assert_eq!(strategy.quota().available(), 500 - 5);
}

// Rule O9.
#[tokio::test(start_paused = true)]
#[should_panic(expected = "never")]
async fn a_closure_that_always_panics_compiles() {
    let strategy = standard();
    let _ = retry(&strategy, || ready(SAFE)).on_retry(|_, _| panic!("never")).run().await;
}

// Rule O21.
#[test]
fn a_driver_gives_up_with_what_was_paid() {
    let (strategy, clock, told) = (standard().quota_capacity(10), ManualTimer::new(), Told::default());
    let failed = StandardRetryPolicy::new().evaluate(&SAFE);
    let waker = Waker::noop();
    for is_asked in [false, true] {
        let mut operation = Operation::builder(&strategy, "get").clock(&clock).observer(&told).with_failures().begin();
        assert!(matches!(operation.next(waker), Next::Attempt { .. }));
        operation.sent();
        assert_eq!(operation.settle(failed), Settled::Retry);
        assert!(operation.take_failure().is_some());
        if is_asked {
            assert_eq!(operation.next(waker), Next::Wait(secs(1)));
        }
        assert_eq!(strategy.quota().available(), 5);
        let ended = operation.give_up();
        assert_eq!((ended.attempts, ended.reason, ended.timed_out), (1, Some(RetryError::GivenUp), None));
        assert_eq!((operation.give_up(), operation.next(waker)), (ended, Next::Stop(ended)));
        assert!(operation.take_failure().is_none());
        assert_eq!(strategy.quota().available(), 10);
        drop(operation);
        assert_eq!((strategy.quota().available(), told.0.take().last().unwrap()), (10, &"stopped given_up".to_owned()));
    }
}

// Rule O21.
#[test]
fn a_driver_that_gives_up_during_an_attempt_has_spent_what_was_sent() {
    let clock = ManualTimer::new();
    let failed = StandardRetryPolicy::new().evaluate(&SAFE);
    for (is_sent, attempts, available) in [(false, 1, 10), (true, 2, 5)] {
        let strategy = standard().quota_capacity(10);
        let mut operation = Operation::builder(&strategy, "get").clock(&clock).begin();
        assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
        operation.sent();
        assert_eq!(operation.settle(failed), Settled::Retry);
        assert_eq!(operation.next(Waker::noop()), Next::Wait(secs(1)));
        clock.advance(secs(1));
        assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
        if is_sent {
            operation.sent();
        }
        let ended = operation.give_up();
        assert_eq!((ended.attempts, ended.reason), (attempts, Some(RetryError::GivenUp)));
        drop(operation);
        assert_eq!(strategy.quota().available(), available);
    }
    // Nothing was sent.
    let strategy = standard();
    let mut operation = Operation::builder(&strategy, "get").clock(TokioTimer).begin();
    assert_eq!((operation.give_up().attempts, matches!(operation.due(), Due::Stop(_))), (0, true));
}

// Rule O21.
#[tokio::test(start_paused = true)]
async fn an_ok_that_is_retried_ends_a_request_but_no_closure_is_asked_about_it() {
    let policy = policy_fn(|_: &Outcome| RetryDirective::retry(RetryErrorType::Other));
    let strategy = standard().max_attempts(2);
    let asked = retry(&strategy, || ready(Ok(1))).policy(policy).on_retry(|_: &Error, _| ControlFlow::Break(()));
    assert_eq!(asked.report().await.reason, Some(RetryError::MaxAttempts));
    let layer = RetryLayer::with_handle(&strategy)
        .policy(policy_fn(|_: &Outcome| RetryDirective::retry(RetryErrorType::Other)));
    let (calls, began) = (Cell::new(0), Instant::now());
    let service = layer.on_retry(|_: &Outcome, _: &Event| ControlFlow::Break(())).layer(service_fn(|()| {
        calls.set(calls.get() + 1);
        ready(Ok(1))
    }));
    assert_eq!((service.oneshot(()).await, calls.get(), began.elapsed()), (Ok(1), 1, Duration::ZERO));
}

// Rule O21.
#[tokio::test]
async fn a_test_sees_the_reason() {
    let test = test::begin();
    let strategy = standard();
    let _ = retry(&strategy, || ready(SAFE)).name("get").on_retry(|_, _| ControlFlow::Break(())).run().await;
    let operation = test.only();
    assert_eq!((operation.attempts, operation.reason, operation.has_ended), (1, Some(RetryError::GivenUp), true));
}
