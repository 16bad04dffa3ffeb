//! Hedges: a second attempt beside the first one.

mod attribute;
mod events;
mod limits;
mod lost;
mod race;
mod sent;

use crate::support::{Attempt, Failed, Recorder, assert_send, kept, millis};
use retry_core::quota::{EvidenceQuota, NoQuota};
use retry_core::{
    Hedge, Jitter, RetryError, RetryErrorType, RetryPolicy, RetryQuota, StandardRetryPolicy, StandardRetryStrategy,
    TokenBucket, TokioTimer, policy_fn, retry, retry_with_context,
};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use tokio::time::{Instant, sleep};

type Outcome = Result<u32, Failed>;

/// A service that answers each call after a time. It counts the calls that run.
struct Service {
    plan: Vec<(Duration, Outcome)>,
    calls: Cell<usize>,
    running: Cell<i32>,
}

struct Running<'a>(&'a Cell<i32>);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

impl Service {
    fn new(plan: impl IntoIterator<Item = (u64, Outcome)>) -> Self {
        let plan = plan.into_iter().map(|(time, outcome)| (millis(time), outcome)).collect();
        Self { plan, calls: Cell::new(0), running: Cell::new(0) }
    }

    async fn call(&self) -> Outcome {
        let (time, outcome) = self.plan[self.calls.replace(self.calls.get() + 1)];
        self.running.set(self.running.get() + 1);
        let _running = Running(&self.running);
        if !time.is_zero() {
            sleep(time).await;
        }
        outcome
    }
}

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

const fn after() -> &'static Hedge {
    static AFTER: Hedge = Hedge::after(millis(100));
    &AFTER
}

/// The end of a call with a hedge after 100 ms.
#[derive(Debug, PartialEq)]
struct Ended {
    outcome: Outcome,
    attempts: u32,
    reason: Option<RetryError>,
    calls: usize,
    quota: u32,
    millis: u128,
}

/// Makes a call with a hedge after 100 ms to a service that answers so.
async fn ended(plan: impl IntoIterator<Item = (u64, Outcome)>) -> Ended {
    let (strategy, hedge, service) = (standard(), after(), Service::new(plan));
    // Something is missing, so that refunds show.
    assert!(strategy.quota().try_acquire(100, &TokioTimer));
    let began = Instant::now();
    let report = retry(&strategy, || service.call()).idempotent(true).hedge(hedge).report().await;
    assert_eq!(service.running.get(), 0, "no attempt is left");
    Ended {
        outcome: report.outcome,
        attempts: report.attempts,
        reason: report.reason,
        calls: service.calls.get(),
        quota: strategy.quota().available(),
        millis: began.elapsed().as_millis(),
    }
}

fn ends(outcome: Outcome, attempts: u32, reason: Option<RetryError>, quota: u32, millis: u128) -> Ended {
    Ended { outcome, attempts, reason, calls: attempts as usize, quota, millis }
}

// Rules V4, V6.
#[tokio::test(start_paused = true)]
async fn the_first_success_wins() {
    // An answer before the delay: nothing is bought.
    assert_eq!(ended([(99, Ok(1))]).await, ends(Ok(1), 1, None, 401, 99));
    // The hedge wins: 5 paid, and 1 refunded as for a retry.
    assert_eq!(ended([(1000, Ok(1)), (30, Ok(2))]).await, ends(Ok(2), 2, None, 400 - 5 + 1, 130));
    // The first attempt wins: 5 paid, and 1 refunded as for a first success.
    assert_eq!(ended([(120, Ok(1)), (30, Ok(2))]).await, ends(Ok(1), 2, None, 400 - 5 + 1, 120));
    // Both at the same time: the first attempt.
    assert_eq!(ended([(130, Ok(1)), (30, Ok(2))]).await, ends(Ok(1), 2, None, 400 - 5 + 1, 130));
}

// Rule V4.
#[tokio::test(start_paused = true)]
async fn a_hedge_that_wins_is_refunded_as_a_retry_and_one_that_loses_is_not() {
    for (first, quota) in [(1000, 300), (120, 300 - 14 + 1)] {
        let (strategy, hedge) = (StandardRetryStrategy::aws_2_1(), after());
        assert!(strategy.quota().try_acquire(200, &TokioTimer));
        let service = Service::new([(first, Ok(1)), (30, Ok(2))]);
        retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run().await.unwrap();
        assert_eq!(strategy.quota().available(), quota);
    }
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn a_failure_that_is_worth_a_retry_waits_for_the_other_attempt() {
    let won = ends(Ok(7), 2, None, 400 - 5 + 1, 500);
    assert_eq!(ended([(200, Err(Failed::SAFE)), (400, Ok(7))]).await, won, "the first one failed");
    assert_eq!(ended([(500, Ok(7)), (100, Err(Failed::SAFE))]).await, won, "the hedge failed");
    // Without a hedge that runs, nothing is waited for. The retry has no hedge, however long it takes.
    let retried = ends(Ok(8), 2, None, 400 - 5 + 1, 50 + 1000 + 700);
    assert_eq!(ended([(50, Err(Failed::SAFE)), (700, Ok(8))]).await, retried);
}

// Rule V6.
#[tokio::test(start_paused = true)]
async fn a_final_failure_ends_the_call_if_it_is_of_the_first_attempt() {
    let fatal = Err(Failed::FATAL);
    let reason = Some(RetryError::NotRetryable);
    assert_eq!(ended([(200, fatal), (400, Ok(7))]).await, ends(fatal, 2, reason, 395, 200));
    assert_eq!(ended([(300, Ok(7)), (10, fatal)]).await, ends(Ok(7), 2, None, 396, 300), "the first deletion worked");
    assert_eq!(ended([(300, fatal), (10, Err(Failed::SAFE))]).await, ends(fatal, 2, reason, 395, 300));
    // The hedge failed finally, and the first attempt is worth a retry: the retry is attempt 3, with the delay of the second retry.
    let retried = ends(Ok(9), 3, None, 400 - 10 + 1, 300 + 2000);
    assert_eq!(ended([(300, Err(Failed::SAFE)), (10, fatal), (0, Ok(9))]).await, retried);
    assert_eq!(ended([(150, Err(Failed::SAFE)), (200, fatal), (0, Ok(9))]).await, retried, "in the other order");
}

// Rule V7.
#[tokio::test(start_paused = true)]
async fn two_failures_are_judged_once_by_the_worse_class_and_the_longer_hint() {
    let errors = [
        (Failed::SAFE, Failed::TIMEOUT, RetryErrorType::Timeout),
        (Failed::THROTTLED, Failed::TIMEOUT, RetryErrorType::Throttling),
        (Failed::CONFLICT, Failed::SAFE, RetryErrorType::Other),
    ];
    for (one, other, worse) in errors {
        for (first, second) in [(one, other), (other, one)] {
            for (first_time, second_time) in [(200, 300), (500, 50)] {
                let (strategy, hedge, told) = (Recorder::new().selling_hedges(), after(), Cell::new(0));
                let plan = [(first_time, Err(first.after(millis(7)))), (second_time, Err(second)), (0, Ok(1))];
                let service = Service::new(plan);
                let call = retry(&strategy, || service.call()).idempotent(true).on_retry(|_, event| {
                    told.set(told.get() + 1);
                    assert_eq!(event.attempt, 2);
                });
                assert_eq!(call.idempotent(true).hedge(hedge).run().await, Ok(1));
                let failure = strategy.last_failure().unwrap();
                assert_eq!((failure.error_type(), failure.retry_after()), (Some(worse), Some(millis(7))));
                assert_eq!((told.get(), service.calls.get()), (1, 3));
                let calls = ["initial", "ready", "hedge", "ready", "refresh", "ready", "success"];
                assert_eq!(strategy.calls(), calls);
            }
        }
    }
}

// Rule V3.
#[tokio::test(start_paused = true)]
async fn a_hedge_is_attempt_two_for_contexts_and_events() {
    let (strategy, hedge, service) =
        (standard(), after(), Service::new([(200, Err(Failed::SAFE)), (1, Err(Failed::SAFE)), (0, Ok(1))]));
    let (seen, events) = (RefCell::default(), RefCell::<Vec<_>>::default());
    let call = retry_with_context(&strategy, |context| {
        let (number, id, previous) = (context.attempt(), context.operation_id(), context.previous_failure().is_some());
        RefCell::<Vec<_>>::borrow_mut(&seen).push((number, id, previous, context.is_hedge()));
        service.call()
    });
    let observer = |event: &retry_core::Event| events.borrow_mut().push((event.kind.as_str(), event.attempt));
    let report = call.observer(Observing(&observer)).idempotent(true).hedge(hedge).report().await;
    assert_eq!((report.outcome, report.attempts), (Ok(1), 3));
    let seen = seen.take();
    let ids = seen.iter().all(|(_, id, ..)| *id == seen[0].1);
    assert!(ids, "{seen:?}");
    let numbers: Vec<_> = seen.iter().map(|(number, _, previous, is_hedge)| (*number, *previous, *is_hedge)).collect();
    assert_eq!(numbers, [(1, false, false), (2, false, true), (3, true, false)]);
    let expected = [
        ("attempt_started", 1),
        ("hedge_sent", 2),
        ("attempt_started", 2),
        ("hedge_ended", 2),
        ("attempt_failed", 2),
        ("retry_scheduled", 2),
        ("attempt_started", 3),
        ("succeeded", 3),
    ];
    assert_eq!(events.take(), expected);

    // Without a hedge, attempt 2 is a retry.
    let (service, seen) = (Service::new([(0, Err(Failed::SAFE)), (0, Ok(1))]), RefCell::default());
    let call = retry_with_context(&strategy, |context| {
        RefCell::<Vec<_>>::borrow_mut(&seen).push((context.attempt(), context.is_hedge()));
        service.call()
    });
    assert_eq!(call.idempotent(true).hedge(hedge).run().await, Ok(1));
    assert_eq!(seen.take(), [(1, false), (2, false)]);
}

/// An observer that is a closure.
struct Observing<F>(F);

impl<F: Fn(&retry_core::Event)> retry_core::Observer for Observing<F> {
    fn observe(&self, event: &retry_core::Event) {
        (self.0)(event);
    }
}

/// Makes calls that are answered at once, so that the next ones may have a hedge, one of 20.
async fn warm(hedge: &'static Hedge, calls: u32) {
    let strategy = standard();
    for _ in 0..calls {
        retry(&strategy, || async { Ok::<_, Failed>(1) }).idempotent(true).hedge(hedge).run().await.unwrap();
    }
}

// Rule V1.
#[tokio::test(start_paused = true)]
async fn only_successes_before_the_delay_and_calls_that_reach_it_move_it() {
    let (strategy, hedge) = (standard(), kept(Hedge::p95()));
    let start = hedge.delay();
    assert!((millis(49)..=millis(50)).contains(&start), "{start:?}");
    let call = async |plan: [(u64, Outcome); 1]| {
        let service = Service::new(plan);
        tokio::time::timeout(millis(40), retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run()).await
    };
    call([(10, Err(Failed::FATAL))]).await.unwrap().unwrap_err();
    call([(45, Ok(1))]).await.unwrap_err();
    assert_eq!(hedge.delay(), start, "a failure, and a call that was dropped before the delay");
    call([(10, Ok(1))]).await.unwrap().unwrap();
    assert!(hedge.delay() < start);
    warm(hedge, 20).await;
    let lower = hedge.delay();
    let service = Service::new([(60, Ok(1)), (60, Ok(2))]);
    assert_eq!(retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run().await, Ok(1));
    assert_eq!(service.calls.get(), 2);
    assert!(hedge.delay() > lower);

    let fixed = kept(Hedge::after(Duration::ZERO));
    let service = Service::new([(60, Ok(1)), (10, Ok(2))]);
    let began = Instant::now();
    assert_eq!(retry(&strategy, || service.call()).idempotent(true).hedge(fixed).run().await, Ok(2));
    assert_eq!((began.elapsed(), fixed.delay()), (millis(10), Duration::ZERO));
}

// Rule V2.
#[tokio::test(start_paused = true)]
async fn a_stall_raises_the_delay_no_further_than_it_lasted() {
    let (strategy, hedge) = (StandardRetryStrategy::new().with_quota(NoQuota), kept(Hedge::p95()));
    warm(hedge, 20).await;
    let services: Vec<_> = (0..100).map(|_| Service::new([(1000, Ok(1)), (1000, Ok(2))])).collect();
    let calls = services.iter().map(|service| retry(&strategy, || service.call()).idempotent(true).hedge(hedge).run());
    let mut calls: Vec<_> = calls.map(Box::pin).collect();
    for call in &mut calls {
        assert!(std::future::poll_fn(|context| std::task::Poll::Ready(call.as_mut().poll(context).is_pending())).await);
    }
    for call in calls {
        assert_eq!(call.await, Ok(1));
    }
    let delay = hedge.delay();
    assert!(delay < millis(1400), "{delay:?}");
    let hedges: usize = services.iter().map(|service| service.calls.get() - 1).sum();
    assert!((1..=30).contains(&hedges), "{hedges} hedges in a stall of 100 calls");
}

#[test]
fn a_call_with_a_hedge_is_send() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    static HEDGE: Hedge = Hedge::p95();
    let call = || retry(&STORE, || async { Ok::<_, Failed>(String::new()) });
    drop(assert_send(call().max_time(millis(5)).attempt_timeout(millis(1)).idempotent(true).hedge(&HEDGE).run()));
    drop(assert_send(call().on_retry(|_, _| ()).idempotent(true).hedge(&HEDGE).report()));
}

// Rule V13.
#[tokio::test(start_paused = true)]
async fn a_call_of_which_nothing_says_that_it_may_be_executed_twice_has_no_hedge() {
    for (idempotent, calls) in [(true, 2), (false, 1)] {
        let (strategy, hedge) = (standard(), after());
        let service = Service::new([(500, Ok(1)), (10, Ok(2))]);
        retry(&strategy, || service.call()).idempotent(idempotent).hedge(hedge).run().await.unwrap();
        assert_eq!(service.calls.get(), calls);
        // With a closure that decides about errors, in both orders.
        let service = Service::new([(500, Ok(1)), (10, Ok(2))]);
        retry(&strategy, || service.call()).when(|_| true).idempotent(idempotent).hedge(hedge).run().await.unwrap();
        assert_eq!(service.calls.get(), calls);
        let service = Service::new([(500, Ok(1)), (10, Ok(2))]);
        let call = retry(&strategy, || service.call()).idempotent(idempotent).when(|_| true).retry_after(|_| None);
        call.hedge(hedge).run().await.unwrap();
        assert_eq!(service.calls.get(), calls);
    }
    let (strategy, hedge) = (standard(), after());
    let services = [(); 4].map(|()| Service::new([(500, Ok(1)), (10, Ok(2))]));
    let [plain, closure, custom, stated] = &services;
    let judge = || policy_fn(|outcome: &Outcome| StandardRetryPolicy::new().evaluate(outcome));
    assert_eq!(retry(&strategy, || plain.call()).hedge(hedge).run().await, Ok(1));
    assert_eq!(retry(&strategy, || closure.call()).when(|_| true).hedge(hedge).run().await, Ok(1));
    assert_eq!(retry(&strategy, || custom.call()).policy(judge()).hedge(hedge).run().await, Ok(1));
    let call = retry(&strategy, || stated.call()).policy(judge().idempotent(true)).hedge(hedge);
    assert_eq!(call.run().await, Ok(2));
    assert_eq!(services.map(|service| service.calls.get()), [1, 1, 1, 2]);
}
