//! Hedges of requests.

use super::standard;
use crate::support::{Failed, millis, secs};
use ::tower::limit::ConcurrencyLimit;
use ::tower::{Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use retry_core::{
    AttemptContext, Event, EventKind, Hedge, Observer, Report, RetryDirective, RetryError, RetryInfo, RetryQuota,
    StandardRetryPolicy, StandardRetryStrategy, TimedOut, TokioTimer, policy_fn,
};
use retry_tower::{HedgedFuture, RetryLayer};
use std::convert::Infallible;
use std::future::ready;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tokio::task::JoinError;
use tokio::time::{Instant, Sleep, sleep, timeout};

type Outcome = Result<u32, Failed>;

static AFTER: Hedge = Hedge::after(millis(100));

/// A service that answers each request after a time. A clone of it is ready only after another time.
#[derive(Clone)]
struct Server {
    state: Arc<State>,
    readiness: Arc<Mutex<Option<Pin<Box<Sleep>>>>>,
}

struct State {
    plan: Vec<(u64, Outcome)>,
    ready_after: Duration,
    calls: AtomicUsize,
    running: AtomicI32,
    attempts: Mutex<Vec<u32>>,
}

struct Running(Arc<State>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    fn new(plan: impl IntoIterator<Item = (u64, Outcome)>) -> Self {
        Self::ready_after(Duration::ZERO, plan)
    }

    /// Creates a server whose retries wait for its readiness.
    fn ready_after(ready_after: Duration, plan: impl IntoIterator<Item = (u64, Outcome)>) -> Self {
        let plan = plan.into_iter().collect();
        let state = State { plan, ready_after, calls: 0.into(), running: 0.into(), attempts: Mutex::default() };
        Self { state: Arc::new(state), readiness: Arc::default() }
    }

    fn calls(&self) -> usize {
        self.state.calls.load(Ordering::Relaxed)
    }

    fn running(&self) -> i32 {
        self.state.running.load(Ordering::Relaxed)
    }
}

impl Service<u32> for Server {
    type Response = u32;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        // The first two attempts find it ready.
        if self.calls() < 2 || self.state.ready_after.is_zero() {
            return Poll::Ready(Ok(()));
        }
        let mut readiness = self.readiness.lock().unwrap();
        readiness.get_or_insert_with(|| Box::pin(sleep(self.state.ready_after))).as_mut().poll(context).map(Ok)
    }

    fn call(&mut self, attempt: u32) -> Self::Future {
        let state = Arc::clone(&self.state);
        let (time, outcome) = state.plan[state.calls.fetch_add(1, Ordering::Relaxed)];
        state.running.fetch_add(1, Ordering::Relaxed);
        state.attempts.lock().unwrap().push(attempt);
        let running = Running(state);
        Box::pin(async move {
            let _running = running;
            sleep(millis(time)).await;
            outcome
        })
    }
}

/// Returns a strategy whose quota lacks 100, so that refunds show, and a stack over it.
fn stack(
    server: &Server,
) -> (
    Arc<StandardRetryStrategy>,
    impl Service<u32, Response = u32, Error = Failed, Future = HedgedFuture<Outcome>> + use<>,
) {
    let strategy = Arc::new(standard());
    assert!(strategy.quota().try_acquire(100, &TokioTimer));
    let layer = RetryLayer::new(Arc::clone(&strategy)).idempotent(true).hedge(&AFTER);
    (strategy, layer.layer(server.clone()))
}

/// Sends a request through a stack. Returns the outcome, the calls of the server, the quota and the time in milliseconds.
async fn sent(plan: impl IntoIterator<Item = (u64, Outcome)>) -> (Outcome, usize, u32, u128) {
    let server = Server::new(plan);
    let (strategy, mut stack) = stack(&server);
    let began = Instant::now();
    let outcome = stack.ready().await.unwrap().call(1).await;
    assert_eq!(server.running(), 0, "no attempt is left");
    (outcome, server.calls(), strategy.quota().available(), began.elapsed().as_millis())
}

// Rules W9, V4, V6.
#[tokio::test(start_paused = true)]
async fn a_slow_request_gets_a_second_attempt_of_which_the_first_success_wins() {
    let (safe, fatal) = (Err(Failed::SAFE), Err(Failed::FATAL));
    // An answer before the delay: nothing is bought.
    assert_eq!(sent([(99, Ok(1))]).await, (Ok(1), 1, 401, 99));
    // The hedge wins, and the first attempt does.
    assert_eq!(sent([(1000, Ok(1)), (30, Ok(2))]).await, (Ok(2), 2, 400 - 5 + 1, 130));
    assert_eq!(sent([(120, Ok(1)), (30, Ok(2))]).await, (Ok(1), 2, 400 - 5 + 1, 120));
    // A failure waits for the other attempt, unless it is a final one of the first attempt.
    assert_eq!(sent([(200, safe), (400, Ok(7))]).await, (Ok(7), 2, 396, 500));
    assert_eq!(sent([(300, Ok(7)), (10, fatal)]).await, (Ok(7), 2, 396, 300));
    assert_eq!(sent([(200, fatal), (400, Ok(7))]).await, (fatal, 2, 395, 200));
    // Both fail: the retry is attempt 3, with the delay of the second retry.
    assert_eq!(sent([(300, safe), (10, safe), (0, Ok(9))]).await, (Ok(9), 3, 400 - 10 + 1, 300 + 2000));
}

// Rule W9.
#[tokio::test(start_paused = true)]
async fn only_the_requests_that_the_function_chooses_have_a_hedge() {
    for (request, calls) in [(1, 2), (2, 1)] {
        let server = Server::new([(500, Ok(1)), (10, Ok(2))]);
        let layer = RetryLayer::new(Arc::new(standard())).idempotent(true);
        let mut stack = layer.hedge_with(|request: &u32| (*request == 1).then_some(&AFTER)).layer(server.clone());
        stack.ready().await.unwrap().call(request).await.unwrap();
        assert_eq!(server.calls(), calls);
    }
}

/// What the functions of a layer got: outcomes with names of events, and the end.
#[derive(Default)]
struct Hooked {
    failures: Mutex<Vec<(Outcome, &'static str, u32)>>,
    ends: Mutex<Vec<End>>,
}

/// The outcome of a request, its attempts, its reason and its time.
type End = (Outcome, u32, Option<RetryError>, Duration);

/// Sends request 1 with a hedge through a layer with all functions, of which `next_request` adds 10. Returns the outcome, the requests that
/// the server got, the quota, and what the functions got.
async fn hooked(
    plan: impl IntoIterator<Item = (u64, Outcome)>,
    flow: impl Fn() -> ControlFlow<()> + Clone + Send + 'static,
) -> (Result<Outcome, JoinError>, Vec<u32>, u32, Arc<Hooked>) {
    let (server, strategy, hooked) = (Server::new(plan), Arc::new(standard()), Arc::new(Hooked::default()));
    let (failures, ends) = (Arc::clone(&hooked), Arc::clone(&hooked));
    let layer = RetryLayer::new(Arc::clone(&strategy))
        .idempotent(true)
        .on_retry(move |outcome: &Outcome, event: &Event| {
            failures.failures.lock().unwrap().push((*outcome, event.kind.as_str(), event.attempt));
            flow()
        })
        .on_end(move |end: &Report<&Outcome>| {
            ends.ends.lock().unwrap().push((*end.outcome, end.attempts, end.reason, end.elapsed));
        })
        .next_request(|request: &mut u32, _: &Outcome| *request += 10)
        .idempotent(true)
        .hedge(&AFTER);
    let outcome = tokio::spawn(layer.layer(server.clone()).call(1)).await;
    let requests = server.state.attempts.lock().unwrap().clone();
    (outcome, requests, strategy.quota().available(), hooked)
}

// Rules W9, W11, W12, V7.
#[tokio::test(start_paused = true)]
async fn the_functions_of_a_layer_get_what_becomes_of_a_request_with_a_hedge() {
    let (safe, fatal) = (Err(Failed::SAFE), Err(Failed::FATAL));
    // A hedge that wins is not a failure, and neither is the attempt that ends first while the other one runs.
    let (outcome, requests, _, hooked_with) = hooked([(200, safe), (400, Ok(7))], || ControlFlow::Continue(())).await;
    assert_eq!((outcome.unwrap(), requests), (Ok(7), vec![1, 1]));
    assert_eq!(*hooked_with.failures.lock().unwrap(), []);
    assert_eq!(*hooked_with.ends.lock().unwrap(), [(Ok(7), 2, None, millis(500))]);
    // If both fail, they are one failure, and the retry gets the request that was changed once.
    let plan = [(300, safe), (10, safe), (0, fatal)];
    let (outcome, requests, _, hooked_with) = hooked(plan, || ControlFlow::Continue(())).await;
    assert_eq!((outcome.unwrap(), requests), (fatal, vec![1, 1, 11]));
    assert_eq!(*hooked_with.failures.lock().unwrap(), [(safe, "retry_scheduled", 2), (fatal, "stopped", 3)]);
    let reason = Some(RetryError::NotRetryable);
    assert_eq!(*hooked_with.ends.lock().unwrap(), [(fatal, 3, reason, millis(2300))]);
}

// Rules W11, V7.
#[tokio::test(start_paused = true)]
async fn of_two_failed_attempts_next_request_sees_the_one_that_ended_last() {
    let (safe, throttled) = (Err(Failed::SAFE), Err(Failed::THROTTLED));
    for (plan, last) in [([(300, safe), (10, throttled)], safe), ([(150, safe), (90, throttled)], throttled)] {
        let (server, seen) = (Server::new(plan.into_iter().chain([(0, Ok(9))])), Arc::new(Mutex::new(Vec::new())));
        let noted = Arc::clone(&seen);
        let layer = RetryLayer::new(Arc::new(standard()))
            .idempotent(true)
            .next_request(move |_: &mut u32, outcome: &Outcome| noted.lock().unwrap().push(*outcome))
            .hedge(&AFTER);
        assert_eq!(layer.layer(server.clone()).call(1).await, Ok(9));
        assert_eq!((server.calls(), &*seen.lock().unwrap()), (3, &vec![last]));
    }
}

// Rules W12, O21, V8.
#[tokio::test(start_paused = true)]
async fn on_retry_can_end_a_request_with_a_hedge_and_gets_the_retry_paid_back() {
    let safe = Err(Failed::SAFE);
    let plan = [(300, safe), (10, safe)];
    let (outcome, requests, quota, hooked_with) = hooked(plan, || ControlFlow::Break(())).await;
    assert_eq!((outcome.unwrap(), requests, quota), (safe, vec![1, 1], 495));
    assert_eq!(*hooked_with.failures.lock().unwrap(), [(safe, "retry_scheduled", 2)]);
    assert_eq!(*hooked_with.ends.lock().unwrap(), [(safe, 2, Some(RetryError::GivenUp), millis(300))]);
    // So does a panic.
    let (outcome, requests, quota, hooked_with) = hooked(plan, || panic!("on_retry")).await;
    assert!(outcome.unwrap_err().is_panic());
    assert_eq!((requests, quota), (vec![1, 1], 495));
    assert_eq!(*hooked_with.ends.lock().unwrap(), []);
}

// Rules W9, V13.
#[tokio::test(start_paused = true)]
async fn a_request_of_which_nothing_says_that_it_may_be_executed_twice_has_no_hedge() {
    for (request, calls, reason) in [(1, 2, None), (2, 1, Some("not_idempotent")), (3, 1, Some("idempotency_unknown"))]
    {
        let (server, not_sent) = (Server::new([(500, Ok(1)), (10, Ok(2))]), NotSent::default());
        let policy = |request: &u32| match request {
            3 => StandardRetryPolicy::new(),
            _ => StandardRetryPolicy::new().idempotent(*request == 1),
        };
        let layer = RetryLayer::new(Arc::new(standard())).policy_with(policy).observer(not_sent.clone());
        layer.hedge(&AFTER).layer(server.clone()).ready().await.unwrap().call(request).await.unwrap();
        assert_eq!(server.calls(), calls);
        assert_eq!(not_sent.0.lock().unwrap().first().copied(), reason);
    }
}

/// The reasons why hedges were not sent.
#[derive(Clone, Default)]
struct NotSent(Arc<Mutex<Vec<&'static str>>>);

impl Observer for NotSent {
    fn observe(&self, event: &Event) {
        if let EventKind::HedgeNotSent { reason } = event.kind {
            self.0.lock().unwrap().push(reason.as_str());
        }
    }
}

// Rules W9, V12.
#[tokio::test(start_paused = true)]
async fn there_is_no_hedge_without_a_service_that_is_ready_or_without_a_clone_of_the_request() {
    for (limit, reasons) in [(1, &["not_ready"][..]), (2, &[])] {
        let (server, not_sent) = (Server::new([(500, Ok(1)), (10, Ok(2))]), NotSent::default());
        let strategy = Arc::new(standard());
        let layer = RetryLayer::new(Arc::clone(&strategy)).idempotent(true).observer(not_sent.clone()).hedge(&AFTER);
        let mut stack = layer.layer(ConcurrencyLimit::new(server.clone(), limit));
        stack.ready().await.unwrap().call(1).await.unwrap();
        assert_eq!((&not_sent.0.lock().unwrap()[..], server.calls()), (reasons, limit));
        assert_eq!(strategy.quota().available(), 500 - 5 * u32::from(limit == 2) + u32::from(limit == 2));
    }

    let (server, not_sent) = (Server::new([(500, Ok(1))]), NotSent::default());
    let layer =
        RetryLayer::new(Arc::new(standard())).idempotent(true).clone_with(|_: &u32| None).observer(not_sent.clone());
    let mut stack = layer.hedge(&AFTER).layer(server.clone());
    assert_eq!(stack.ready().await.unwrap().call(1).await, Ok(1));
    assert_eq!((&not_sent.0.lock().unwrap()[..], server.calls()), (&["not_repeatable"][..], 1));
}

// Rules W9, V3.
#[tokio::test(start_paused = true)]
async fn a_hedge_is_attempt_two_and_has_its_own_time() {
    let server = Server::new([(500, Ok(1)), (250, Ok(2)), (0, Ok(3))]);
    let layer = RetryLayer::new(Arc::new(standard())).attempt_timeout(millis(200)).max_time(secs(9));
    let layer = layer.policy(StandardRetryPolicy::new().idempotent(true));
    let numbered = |request: &mut u32, context: AttemptContext| *request = context.attempt();
    let server_of_timeouts = server.clone();
    let service = service_fn(move |request: u32| {
        let mut server = server_of_timeouts.clone();
        async move { server.call(request).await.map_err(TimedOutOr::Failed) }
    });
    let began = Instant::now();
    let mut stack = layer.before_attempt(numbered).idempotent(true).hedge(&AFTER).layer(service);
    assert_eq!(stack.ready().await.unwrap().call(0).await.unwrap(), 3);
    // The attempts are cut after 200 and 300 ms. The retry has the delay of the second retry.
    assert_eq!(began.elapsed(), millis(300) + secs(2));
    assert_eq!(*server.state.attempts.lock().unwrap(), [1, 2, 3]);
    assert_eq!(server.running(), 0);
}

#[derive(Debug, RetryInfo)]
enum TimedOutOr {
    #[retry(transparent)]
    TimedOut(TimedOut),
    #[retry(transparent)]
    Failed(Failed),
}

impl From<TimedOut> for TimedOutOr {
    fn from(error: TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

// Rules W12, V8.
#[tokio::test(start_paused = true)]
async fn a_panic_of_on_retry_after_the_last_attempt_refunds_no_attempt_that_was_sent() {
    let (strategy, server) = (Arc::new(standard()), Server::new([(500, Ok(1)), (500, Ok(2))]));
    let layer = RetryLayer::new(Arc::clone(&strategy)).policy(StandardRetryPolicy::new().idempotent(true));
    let layer = layer.idempotent(true).max_time(millis(300)).on_retry(|_: &Result<u32, TimedOutOr>, event: &Event| {
        panic!("{}", event.kind.as_str());
    });
    let server_of_timeouts = server.clone();
    let service = service_fn(move |request: u32| {
        let mut server = server_of_timeouts.clone();
        async move { server.call(request).await.map_err(TimedOutOr::Failed) }
    });
    let panicked = tokio::spawn(layer.hedge(&AFTER).layer(service).call(0)).await.unwrap_err().into_panic();
    assert_eq!(panicked.downcast_ref(), Some(&"stopped".to_owned()));
    // The hedge was paid for.
    assert_eq!((server.calls(), strategy.quota().available()), (2, 495));
}

// Rules W9, W5, V8.
#[tokio::test(start_paused = true)]
async fn a_request_that_is_dropped_at_any_time_has_paid_for_what_was_sent() {
    let mut seen = Vec::new();
    for time in (0..3000).step_by(10) {
        let plan = [(150, Err(Failed::SAFE)), (100, Err(Failed::SAFE)), (100, Ok(3))];
        // The service is ready for the retry half a second after the delay of two seconds.
        let server = Server::ready_after(millis(500), plan);
        let (strategy, mut stack) = stack(&server);
        let result = timeout(millis(time), stack.ready().await.unwrap().call(1)).await;
        let (sent, is_over) = (server.calls(), result.is_ok());
        let expected = match sent {
            0 | 1 => 400,
            2 => 395,
            _ => 390 + u32::from(is_over),
        };
        assert_eq!((strategy.quota().available(), server.running()), (expected, 0), "dropped after {time} ms");
        seen.push((sent, is_over));
    }
    seen.dedup();
    assert_eq!(seen, [(1, false), (2, false), (3, false), (3, true)]);
}

// Rules W9, W8, D6.
#[tokio::test(start_paused = true)]
async fn a_panic_before_a_hedge_or_a_retry_is_sent_refunds_it() {
    for (panics_at, quota) in [(2, 500), (3, 495)] {
        let server = Server::new([(300, Err(Failed::SAFE)), (10, Err(Failed::SAFE)), (0, Ok(3))]);
        let strategy = Arc::new(standard());
        let layer =
            RetryLayer::new(Arc::clone(&strategy)).idempotent(true).before_attempt(move |_: &mut u32, context| {
                assert!(context.attempt() < panics_at, "a panic");
            });
        let mut stack = layer.hedge(&AFTER).layer(server.clone());
        let mut response = Box::pin(stack.ready().await.unwrap().call(1));
        let mut panicked = false;
        for _ in 0..300 {
            let poll = || response.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
            panicked = catch_unwind(AssertUnwindSafe(poll)).is_err();
            if panicked {
                break;
            }
            tokio::time::advance(millis(10)).await;
        }
        assert!(panicked);
        drop(response);
        assert_eq!((strategy.quota().available(), server.running()), (quota, 0));
    }
}

// Rules W6, W9.
#[tokio::test(start_paused = true)]
async fn a_stack_with_hedges_is_built_and_used_in_a_spawned_block() {
    static STORE: StandardRetryStrategy = standard();

    let answer = tokio::spawn(async {
        let mut stack = ServiceBuilder::new()
            .buffer(2)
            .layer(RetryLayer::new(&STORE).max_time(secs(3)).policy(policy_fn(judge).idempotent(true)).hedge(&AFTER))
            .buffer(2)
            .service(service_fn(|text: String| ready(Ok::<_, Infallible>(text))));
        stack.ready().await.unwrap().call("answer".to_owned()).await
    });
    assert_eq!(answer.await.unwrap().unwrap(), "answer");
}

fn judge<E>(outcome: &Result<String, E>) -> RetryDirective {
    match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::fail(None),
    }
}
