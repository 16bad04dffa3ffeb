//! Functions that are called after each failure and at the end of a request.

use super::standard;
use crate::script::{Error, SAFE};
use crate::support::{Failed, Flaky, assert_send, millis, poll_once, secs};
use ::tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use retry_core::{
    AttemptContext, Event, EventKind, Observer, PatientRetryStrategy, Report, RetryDirective, RetryError,
    RetryErrorType, RetryQuota, Stop, policy_fn,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

type Outcome = Result<u32, Failed>;

/// What a report says besides the outcome.
fn numbers<R>(report: &Report<R>) -> (u32, Option<RetryError>, Duration) {
    (report.attempts, report.reason, report.elapsed)
}

// Rules W12, O9.
#[tokio::test(start_paused = true)]
async fn the_hooks_get_each_failure_and_the_report() {
    for (failures, ended) in [(1, (2, None, secs(1))), (9, (2, Some(RetryError::MaxAttempts), secs(1)))] {
        let (strategy, service) = (standard().max_attempts(2), Flaky::new(failures, Failed::SAFE));
        let (events, ends) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let layer = RetryLayer::with_handle(&strategy)
            .name("get")
            .on_retry(|outcome: &Outcome, event: &Event| events.borrow_mut().push((*outcome, event.clone())))
            .on_end(|report: &Report<&Outcome>| ends.borrow_mut().push((*report.outcome, numbers(report))));
        let outcome = layer.layer(service_fn(|()| ready(service.call()))).oneshot(()).await;
        assert_eq!(*ends.borrow(), [(outcome, ended)]);
        let events = events.take();
        assert_eq!(events.len(), if failures == 1 { 1 } else { 2 });
        let (first, scheduled) = &events[0];
        assert_eq!((*first, scheduled.operation, scheduled.attempt), (Err(Failed::SAFE), "get", 1));
        assert_eq!((scheduled.kind.delay(), scheduled.elapsed), (Some(secs(1)), Duration::ZERO));
        if let Some((last, stopped)) = events.get(1) {
            assert_eq!(
                (*last, stopped.kind.as_str(), stopped.attempt, stopped.elapsed),
                (outcome, "stopped", 2, secs(1))
            );
            assert_eq!(stopped.operation_id, scheduled.operation_id);
        }
    }
}

// Rule W12.
#[tokio::test(start_paused = true)]
async fn an_ok_that_the_policy_classifies_as_a_failure_is_one_for_on_retry() {
    fn judge(status: &Outcome) -> RetryDirective {
        match status {
            Ok(503) => RetryDirective::retry(RetryErrorType::Other),
            Ok(_) => RetryDirective::succeed(),
            Err(_) => RetryDirective::fail(None),
        }
    }
    let (strategy, seen, number) = (standard(), RefCell::new(Vec::new()), Cell::new(0));
    let service = service_fn(|()| ready(Ok::<_, Failed>(if number.replace(1) == 0 { 503 } else { 200 })));
    let layer = RetryLayer::with_handle(&strategy).policy(policy_fn(judge));
    let layer = layer.on_retry(|outcome: &Outcome, _: &Event| seen.borrow_mut().push(*outcome));
    assert_eq!(layer.layer(service).oneshot(()).await, Ok(200));
    assert_eq!(*seen.borrow(), [Ok(503)]);
}

// Rules W12, W4.
#[tokio::test(start_paused = true)]
async fn the_hooks_get_the_returned_outcome_when_max_time_ends_the_request() {
    let (strategy, calls) = (standard(), Cell::new(0));
    let (events, ends) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let service = service_fn(|()| {
        calls.set(calls.get() + 1);
        let stalls = calls.get() == 2;
        async move { if stalls { pending().await } else { SAFE } }
    });
    let layer = RetryLayer::with_handle(&strategy)
        .max_time(millis(1500))
        .on_retry(|outcome: &Result<u32, Error>, event: &Event| events.borrow_mut().push((*outcome, event.kind)))
        .on_end(|report: &Report<&Result<u32, Error>>| ends.borrow_mut().push((*report.outcome, numbers(report))));
    assert_eq!(layer.layer(service).oneshot(()).await, SAFE);
    let events = events.take();
    assert_eq!(
        events.iter().map(|(outcome, kind)| (*outcome, kind.as_str())).collect::<Vec<_>>(),
        [(SAFE, "retry_scheduled"), (SAFE, "stopped")]
    );
    assert!(matches!(events[1].1, EventKind::Stopped { reason: RetryError::MaxTime, .. }));
    assert_eq!(*ends.borrow(), [(SAFE, (2, Some(RetryError::MaxTime), millis(1500)))]);
}

// Rules W12, T18.
#[tokio::test(start_paused = true)]
async fn the_hooks_get_the_last_outcome_of_a_request_that_is_stopped_while_it_waits() {
    let (strategy, stop) = (standard(), Arc::new(Stop::new()));
    let (events, ends) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
    let layer = RetryLayer::with_handle(&strategy)
        .stop(Arc::clone(&stop))
        .on_retry(|_: &Result<u32, Error>, event: &Event| events.borrow_mut().push(event.kind.as_str()))
        .on_end(|report: &Report<&Result<u32, Error>>| ends.borrow_mut().push((*report.outcome, report.reason)));
    let request = layer.layer(service_fn(|()| ready(SAFE))).oneshot(());
    let (outcome, ()) = tokio::join!(request, async {
        sleep(millis(500)).await;
        stop.stop();
    });
    assert_eq!(outcome, SAFE);
    assert_eq!(*events.borrow(), ["retry_scheduled", "stopped"]);
    assert_eq!(*ends.borrow(), [(SAFE, Some(RetryError::Stopped))]);
}

// Rules W12, O1.
#[tokio::test(start_paused = true)]
async fn on_retry_gets_the_event_of_the_observer() {
    #[derive(Default)]
    struct Seen(RefCell<Vec<Event>>);
    impl Observer for Seen {
        fn observe(&self, event: &Event) {
            self.0.borrow_mut().push(event.clone());
        }
    }
    let (strategy, observed, hooked) = (standard().max_attempts(2), Seen::default(), RefCell::new(Vec::new()));
    let ids = RefCell::new(Vec::new());
    let layer = RetryLayer::with_handle(&strategy)
        .before_attempt(|(): &mut (), context: AttemptContext| ids.borrow_mut().push(context.operation_id()))
        .observer(&observed)
        .on_retry(|_: &Outcome, event: &Event| hooked.borrow_mut().push(event.clone()));
    let _ = layer.layer(service_fn(|()| ready(Err(Failed::SAFE)))).oneshot(()).await;
    let hooked = hooked.take();
    let expected: Vec<_> = observed.0.take().into_iter().filter(|it| hooked.contains(it)).collect();
    assert_eq!((hooked.len(), &expected), (2, &hooked));
    assert!(ids.take().iter().all(|id| *id == hooked[0].operation_id));
}

// Rules W12, W5.
#[test]
fn a_panic_of_on_retry_gives_back_the_retry_and_a_dropped_request_has_no_end() {
    let (strategy, ends) = (standard(), Cell::new(0));
    let layer = RetryLayer::with_handle(&strategy).on_retry(|_: &Outcome, _: &Event| panic!("on_retry"));
    {
        let mut request = pin!(layer.layer(service_fn(|()| ready(Err(Failed::SAFE)))).oneshot(()));
        assert!(catch_unwind(AssertUnwindSafe(|| poll_once(request.as_mut()))).is_err());
    }
    assert_eq!(strategy.quota().available(), 500);
    let layer = RetryLayer::with_handle(&strategy).on_end(|_: &Report<&Outcome>| ends.set(ends.get() + 1));
    {
        let mut request = pin!(layer.layer(service_fn(|()| pending::<Outcome>())).oneshot(()));
        poll_once(request.as_mut());
    }
    assert_eq!(ends.get(), 0);
}

// Rules W12, W6.
#[tokio::test(start_paused = true)]
async fn a_stack_with_hooks_is_built_and_used_in_a_spawned_block() {
    static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    fn judge(outcome: &Result<u32, BoxError>) -> RetryDirective {
        if outcome.is_ok() { RetryDirective::succeed() } else { RetryDirective::retry(RetryErrorType::Other) }
    }
    fn log(_: &Result<u32, BoxError>, _: &Event) {}
    fn count(_: &Report<&Result<u32, BoxError>>) {}
    async fn same_number(request: u32) -> Result<u32, BoxError> {
        Ok(request)
    }
    fn same(_: &mut u32, _: &Result<u32, BoxError>) {}

    let answer = tokio::spawn(async {
        let layer = RetryLayer::new(&STORE).policy(policy_fn(judge)).on_retry(log).on_end(count).next_request(same);
        let mut stack = ServiceBuilder::new().buffer(2).layer(layer).timeout(secs(60)).service(service_fn(same_number));
        assert_send(stack.ready().await.unwrap().call(7)).await
    });
    assert_eq!(answer.await.unwrap().unwrap(), 7);
}
