//! The layer for `tower`: the forms of requests and services, the situations of tower's own retry layer, readiness,
//! time limits, and dropped requests.

mod changes;
mod errors;
mod hedges;
mod hooks;
mod policies;
mod readiness;
mod requests;
mod stacks;
mod unsent;
mod weights;

use crate::script::{Error, time_was_up};
use crate::support::{Failed, Flaky, assert_send, millis, poll_once, secs};
use ::tower::limit::ConcurrencyLimitLayer;
use ::tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use retry_core::{
    AdaptiveRetryStrategy, Event, EventKind, Jitter, Observer, RetryError, RetryInfo, RetryQuota,
    StandardRetryStrategy, TimeLimit, TimedOut,
};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::future::{Ready, pending, ready};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};

/// Delays of 1, 2, 4 and 8 seconds, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Events by their names, with the reason of the last one.
#[derive(Default)]
struct Events(RefCell<Vec<String>>);

impl Observer for Events {
    fn observe(&self, event: &Event) {
        let reason = match event.kind {
            EventKind::Stopped { reason, .. } => format!(" {}", reason.as_str()),
            _ => String::new(),
        };
        self.0.borrow_mut().push(format!("{}: {}{reason}", event.operation, event.kind.as_str()));
    }
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn a_request_is_retried_until_it_succeeds() {
    let (strategy, service, started) = (standard(), Flaky::new(2, Failed::SAFE), Instant::now());
    let mut retrying = RetryLayer::with_handle(&strategy).layer(service_fn(|_: &str| ready(service.call())));
    assert_eq!(retrying.ready().await.unwrap().call("key").await, Ok(3));
    assert_eq!(started.elapsed(), secs(1 + 2));
    assert_eq!(strategy.quota().available(), 500 - 2 * 5 + 1);
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn the_future_begins_with_its_first_poll_and_is_send_if_its_parts_are() {
    let (strategy, service) = (standard(), Flaky::new(1, Failed::SAFE));
    let mut retrying = RetryLayer::with_handle(&strategy).layer(service_fn(|()| ready(service.call())));
    let future = assert_send(retrying.call(()));
    assert_eq!(service.calls(), 0);
    assert_eq!(future.await, Ok(2));

    // A service, a request and a response that are not `Send`.
    let calls = Rc::new(Cell::new(0));
    let service = service_fn(|calls: Rc<Cell<u32>>| async move {
        calls.set(calls.get() + 1);
        if calls.get() < 3 { Err(Failed::SAFE) } else { Ok(calls) }
    });
    let answer = RetryLayer::with_handle(&strategy).layer(service).oneshot(Rc::clone(&calls)).await.unwrap();
    assert_eq!(answer.get(), 3);
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn clones_of_a_service_share_the_strategy() {
    let (strategy, service) = (standard().quota_capacity(9), Flaky::new(9, Failed::SAFE));
    let first = RetryLayer::with_handle(&strategy).layer(service_fn(|()| ready(service.call())));
    let second = first.clone();
    assert_eq!(first.oneshot(()).await, Err(Failed::SAFE));
    assert_eq!(service.calls(), 2, "the quota pays for one retry");
    assert_eq!(second.oneshot(()).await, Err(Failed::SAFE));
    assert_eq!(service.calls(), 3);
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn idempotent_is_a_setting_of_the_layer() {
    for (idempotent, calls) in [(true, 2), (false, 1)] {
        let (strategy, service) = (standard(), Flaky::new(1, Failed::TIMEOUT));
        let layer = RetryLayer::with_handle(&strategy).idempotent(idempotent);
        let _ = layer.layer(service_fn(|()| ready(service.call()))).oneshot(()).await;
        assert_eq!(service.calls(), calls);
    }
}

// Rules W1, O1.
#[tokio::test(start_paused = true)]
async fn events_are_told_under_the_name_of_the_layer() {
    let (strategy, events, service) = (standard(), Events::default(), Flaky::new(1, Failed::SAFE));
    let service = service_fn(|()| ready(service.call()));
    for (layer, name) in [
        (RetryLayer::with_handle(&strategy).observer(&events), "tower"),
        (RetryLayer::with_handle(&strategy).observer(&events).name("orders"), "orders"),
    ] {
        let _ = layer.layer(service).oneshot(()).await;
        let told = events.0.take();
        assert!(told.iter().all(|event| event.starts_with(&format!("{name}: "))), "{told:?}");
        assert_eq!(told.last().unwrap(), &format!("{name}: succeeded"));
    }
}

// Rule W1.
#[tokio::test]
async fn a_test_guard_reaches_the_layer() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    let test = retry_core::test::begin().quota(9);
    let service = Flaky::new(9, Failed::THROTTLED);
    let outcome = RetryLayer::new(&STORE).layer(service_fn(|()| ready(service.call()))).oneshot(()).await;
    assert_eq!(outcome, Err(Failed::THROTTLED));
    test.only().assert_ended(2, Some(RetryError::QuotaExhausted));
    assert_eq!(test.only().name, "tower");
}

/// A service that is ready after a number of polls, and that must be polled until it is ready before each call.
struct Slow {
    polls: u32,
    left: Cell<u32>,
    answers: Rc<Flaky>,
}

impl Slow {
    fn new(polls: u32, answers: Flaky) -> Self {
        Self { polls, left: Cell::new(polls), answers: Rc::new(answers) }
    }
}

/// A clone is not ready.
impl Clone for Slow {
    fn clone(&self) -> Self {
        Self { polls: self.polls, left: Cell::new(self.polls), answers: Rc::clone(&self.answers) }
    }
}

impl Service<()> for Slow {
    type Response = u32;
    type Error = Failed;
    type Future = Ready<Result<u32, Failed>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        if self.left.get() == 0 {
            return Poll::Ready(Ok(()));
        }
        self.left.set(self.left.get() - 1);
        context.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, (): ()) -> Self::Future {
        assert_eq!(self.left.replace(self.polls), 0, "the service was called before it was ready");
        ready(self.answers.call())
    }
}

// Rule W3.
#[tokio::test(start_paused = true)]
async fn a_service_is_polled_until_it_is_ready_before_each_attempt() {
    let strategy = standard();
    let service = Slow::new(3, Flaky::new(3, Failed::SAFE));
    let retrying = RetryLayer::with_handle(&strategy).layer(service);
    assert_eq!(retrying.clone().oneshot(()).await, Ok(4));
    assert_eq!(retrying.oneshot(()).await, Ok(5));
}

// Rule W3.
#[tokio::test(start_paused = true)]
async fn a_permit_below_the_layer_is_free_while_a_retry_waits() {
    let (strategy, service) = (standard(), Flaky::new(1, Failed::SAFE));
    let mut stack = ServiceBuilder::new()
        .layer(RetryLayer::with_handle(&strategy))
        .layer(ConcurrencyLimitLayer::new(1))
        .service_fn(|()| ready(service.call()));
    let first = stack.ready().await.unwrap().call(());
    let mut first = pin!(first);
    poll_once(first.as_mut());
    assert_eq!(service.calls(), 1);
    let second = timeout(millis(1), stack.ready()).await.expect("the permit is free").unwrap().call(());
    assert_eq!(second.await, Ok(2));
    assert_eq!(first.await, Ok(3));
}

/// A service that is ready for its first call only.
#[derive(Clone)]
struct Broken(Rc<Cell<u32>>);

impl Service<()> for Broken {
    type Response = u32;
    type Error = Failed;
    type Future = Ready<Result<u32, Failed>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(if self.0.get() == 0 { Ok(()) } else { Err(Failed::FATAL) })
    }

    fn call(&mut self, (): ()) -> Self::Future {
        self.0.set(self.0.get() + 1);
        ready(Err(Failed::SAFE))
    }
}

// Rule W3.
#[tokio::test(start_paused = true)]
async fn an_error_of_readiness_is_the_outcome_of_its_attempt() {
    let (strategy, events) = (standard(), Events::default());
    let calls = Rc::new(Cell::new(0));
    let layer = RetryLayer::with_handle(&strategy).observer(&events);
    assert_eq!(layer.layer(Broken(Rc::clone(&calls))).oneshot(()).await, Err(Failed::FATAL));
    assert_eq!(calls.get(), 1);
    assert_eq!(events.0.borrow().last().unwrap(), "tower: stopped not_retryable");
}

// Rules W4, T1.
#[tokio::test(start_paused = true)]
async fn time_limits_bound_requests_and_attempts() {
    let (strategy, started) = (standard(), Instant::now());
    let calls = Cell::new(0);
    let never = service_fn(|()| {
        calls.set(calls.get() + 1);
        pending::<Result<u32, Error>>()
    });
    let layer = RetryLayer::with_handle(&strategy).idempotent(true).attempt_timeout(secs(2)).max_time(secs(4));
    let outcome = layer.layer(never).oneshot(()).await;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Attempt, secs(2))), "{outcome:?}");
    assert_eq!(started.elapsed(), secs(4), "two seconds, a delay of one, and the second that is left");
    assert_eq!(calls.get(), 2);

    let started = Instant::now();
    let outcome = RetryLayer::with_handle(&strategy).max_time(secs(3)).layer(never).oneshot(()).await;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Operation, secs(3))));
    assert_eq!(started.elapsed(), secs(3));
}

/// A service whose clones are never ready.
struct OnlyOnce(Cell<bool>);

impl Clone for OnlyOnce {
    fn clone(&self) -> Self {
        Self(Cell::new(false))
    }
}

impl Service<()> for OnlyOnce {
    type Response = u32;
    type Error = Error;
    type Future = Ready<Result<u32, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Error>> {
        if self.0.get() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn call(&mut self, (): ()) -> Self::Future {
        self.0.set(false);
        ready(crate::script::SAFE)
    }
}

// Rules W3, W4.
#[tokio::test(start_paused = true)]
async fn the_time_limit_of_an_attempt_includes_the_wait_until_the_service_is_ready() {
    let (strategy, started) = (standard().max_attempts(2), Instant::now());
    let layer = RetryLayer::with_handle(&strategy).attempt_timeout(secs(7));
    let outcome = layer.layer(OnlyOnce(Cell::new(true))).oneshot(()).await;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Attempt, secs(7))));
    assert_eq!(started.elapsed(), secs(1 + 7));
}

// Most stacks of `tower` have this error type.
// Rule W4.
#[tokio::test(start_paused = true)]
async fn a_boxed_error_can_say_that_the_time_was_up() {
    type BoxError = Box<dyn std::error::Error + Send + Sync>;
    let strategy = standard();
    let judge = retry_core::policy_fn(|_: &Result<(), BoxError>| retry_core::RetryDirective::succeed());
    let layer = RetryLayer::with_handle(&strategy).policy(judge).max_time(secs(1));
    let error = layer.layer(service_fn(|()| pending())).oneshot(()).await.unwrap_err();
    assert!(error.downcast_ref::<TimedOut>().is_some_and(TimedOut::is_timeout));
}

// Rules W5, D1.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_while_it_waits_gives_back_the_cost_of_its_retry() {
    let (strategy, service) = (standard(), Flaky::new(9, Failed::SAFE));
    let mut retrying = RetryLayer::with_handle(&strategy).layer(service_fn(|()| ready(service.call())));
    let mut future = Box::pin(retrying.call(()));
    poll_once(future.as_mut());
    assert_eq!(strategy.quota().available(), 495);
    drop(future);
    assert_eq!(strategy.quota().available(), 500);

    // What was paid for an attempt that was sent is spent.
    let service =
        service_fn(|is_first: bool| async move { if is_first { Err(Failed::SAFE) } else { pending().await } });
    let mut retrying = RetryLayer::with_handle(&strategy).clone_with(|_: &bool| Some(false)).layer(service);
    let outcome: Result<Result<(), Failed>, _> = timeout(secs(2), retrying.call(true)).await;
    assert!(outcome.is_err());
    assert_eq!(strategy.quota().available(), 495);
}

// Tower's own retry layer can't do this.
// Rules W1, A5.
#[tokio::test(start_paused = true)]
async fn a_limiter_holds_back_first_requests() {
    let (strategy, started) = (AdaptiveRetryStrategy::over(standard()), Instant::now());
    let service = Flaky::new(1, Failed::THROTTLED);
    let mut retrying = RetryLayer::with_handle(&strategy).layer(service_fn(|()| ready(service.call())));
    assert_eq!(retrying.call(()).await, Ok(2));
    // The retry used up the permission to send.
    let before = started.elapsed();
    assert_eq!(retrying.call(()).await, Ok(3));
    assert!(started.elapsed() > before, "the first attempt of the second request was not held back");
}

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
#[retry(safe)]
struct Refused;

// Rule W5.
#[tokio::test(start_paused = true)]
async fn a_sleep_that_panics_gives_back_the_cost_of_its_retry() {
    struct Panics;
    impl retry_core::Clock for Panics {
        fn now(&self) -> retry_core::time::Timestamp {
            retry_core::time::Timestamp::START
        }
    }
    impl retry_core::Timer for &'static Panics {
        type Sleep = std::pin::Pin<Box<dyn Future<Output = ()>>>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            Box::pin(async { panic!("a sleep that panics") })
        }
    }
    static PANICS: Panics = Panics;
    let strategy = standard();
    let mut retrying =
        RetryLayer::with_handle(&strategy).timer(&PANICS).layer(service_fn(|()| ready(Err::<Infallible, _>(Refused))));
    let mut future = Box::pin(retrying.call(()));
    let poll = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll_once(future.as_mut())));
    assert!(poll.is_err());
    drop(future);
    assert_eq!(strategy.quota().available(), 500);
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn a_finished_future_stays_pending() {
    let strategy = standard();
    let mut retrying = RetryLayer::with_handle(&strategy).layer(service_fn(|()| async {
        sleep(millis(1)).await;
        Ok::<_, Refused>(1)
    }));
    let mut future = pin!(retrying.call(()));
    assert_eq!(future.as_mut().await, Ok(1));
    poll_once(future);
    assert_eq!(strategy.quota().available(), 500);
}

/// A request that counts its clones, and panics at the second one.
struct Fragile(Rc<Cell<u32>>);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        self.0.set(self.0.get() + 1);
        assert!(self.0.get() < 2, "a request that panics while it is cloned");
        Self(Rc::clone(&self.0))
    }
}

// Rules W5, D1.
#[tokio::test(start_paused = true)]
async fn a_retry_that_the_service_did_not_take_gives_back_its_cost() {
    // The service is not ready for the retry, and the future is dropped.
    let strategy = standard();
    let mut retrying = RetryLayer::with_handle(&strategy).layer(OnlyOnce(Cell::new(true)));
    assert!(timeout(secs(5), retrying.ready().await.unwrap().call(())).await.is_err());
    assert_eq!(strategy.quota().available(), 500);

    // The time is up meanwhile.
    let outcome =
        RetryLayer::with_handle(&strategy).max_time(secs(5)).layer(OnlyOnce(Cell::new(true))).oneshot(()).await;
    assert_eq!(outcome, crate::script::SAFE);
    assert_eq!(strategy.quota().available(), 500);

    // The request can't be cloned for the retry.
    let service = Flaky::new(9, Failed::SAFE);
    let mut retrying = RetryLayer::with_handle(&strategy).layer(service_fn(|_: Fragile| ready(service.call())));
    let mut future = Box::pin(retrying.call(Fragile(Rc::default())));
    poll_once(future.as_mut());
    tokio::time::advance(secs(1)).await;
    let poll = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| poll_once(future.as_mut())));
    assert!(poll.is_err());
    drop(future);
    assert_eq!((service.calls(), strategy.quota().available()), (1, 500));
}
