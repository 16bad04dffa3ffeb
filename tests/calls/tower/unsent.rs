//! Attempts that end before the service takes their request: they are not sent, and what was taken for them comes back.

use super::{Events, standard};
use crate::script::{Error, SAFE, time_was_up};
use crate::support::{ByHand, Failed, poll_once, secs};
use ::tower::{Layer, Service, ServiceExt};
use proptest::prelude::*;
use proptest::sample::select;
use retry_config::{RetryConfig, RetryMode};
use retry_core::limit::Ready;
use retry_core::strategy::{ErasedStrategy, Refund, RetryCosts};
use retry_core::time::Timestamp;
use retry_core::{
    AdaptiveRetryStrategy, Clock, Event, EventKind, Failure, Jitter, Observer, RetryDirective, RetryErrorType,
    RetryPolicy, RetryQuota, RetryStrategy, StandardRetryStrategy, TimedOut, Timer, policy_fn,
};
use retry_limits::PacedRetryStrategy;
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tests::program::cases;

/// What a service does in an attempt.
#[derive(Clone, Copy, Debug)]
struct Step {
    /// The number of polls until the service is ready. It never is if the number is large.
    polls: u32,
    /// Whether readiness then is an error.
    is_broken: bool,
    /// The number of polls until the response.
    response: u32,
    /// Whether the response is a success.
    is_ok: bool,
}

/// User code that panics when it runs for the `n`-th time, and the number of calls of the service.
#[derive(Default)]
struct World {
    fuse: Cell<Option<u32>>,
    calls: Cell<u32>,
    now: Cell<Duration>,
}

impl World {
    fn burn(&self) {
        if let Some(left) = self.fuse.get()
            && !std::thread::panicking()
        {
            self.fuse.set(left.checked_sub(1));
            if left == 0 {
                // Without a message: there are thousands of them.
                resume_unwind(Box::new("user code that panics"));
            }
        }
    }
}

#[derive(Clone)]
struct Handle(Rc<World>);

impl Clock for Handle {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(secs(1000) + self.0.now.get())
    }
}

impl Timer for Handle {
    type Sleep = Sleep;

    fn sleep(&self, delay: Duration) -> Sleep {
        self.0.burn();
        Sleep { world: self.clone(), end: self.0.now.get() + delay }
    }
}

/// A sleep until the driver of the future has moved the clock on.
struct Sleep {
    world: Handle,
    end: Duration,
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        self.world.0.burn();
        if self.world.0.now.get() < self.end { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.world.0.burn();
    }
}

/// Both the request and the error of the response.
#[derive(Debug)]
struct Value(Rc<World>, Option<TimedOut>);

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("World")
    }
}

impl Clone for Value {
    fn clone(&self) -> Self {
        self.0.burn();
        Self(Rc::clone(&self.0), self.1)
    }
}

impl Drop for Value {
    fn drop(&mut self) {
        self.0.burn();
    }
}

thread_local! {
    /// The world of the errors that are made of a `TimedOut`.
    static WORLD: RefCell<Rc<World>> = RefCell::default();
}

impl From<TimedOut> for Value {
    fn from(error: TimedOut) -> Self {
        let world = WORLD.with_borrow(Rc::clone);
        world.burn();
        Self(world, Some(error))
    }
}

impl Observer for Handle {
    fn observe(&self, _: &Event) {
        self.0.burn();
    }
}

/// Retries errors.
#[derive(Clone)]
struct Policy(Handle);

impl RetryPolicy<Result<(), Value>> for Policy {
    fn evaluate(&self, outcome: &Result<(), Value>) -> RetryDirective {
        self.0.0.burn();
        match outcome {
            Ok(()) => RetryDirective::succeed(),
            Err(_) => RetryDirective::retry(RetryErrorType::Other),
        }
    }
}

/// A service that follows a script. Each attempt takes a step of it, the first one by its response only.
struct Scripted {
    world: Handle,
    script: Rc<Vec<Step>>,
    position: Rc<Cell<usize>>,
    polls: Cell<u32>,
}

impl Scripted {
    fn step(&self) -> Step {
        const LAST: Step = Step { polls: 0, is_broken: false, response: 0, is_ok: true };
        self.script.get(self.position.get()).copied().unwrap_or(LAST)
    }

    fn next(&self) {
        self.position.set(self.position.get() + 1);
        self.polls.set(0);
    }
}

impl Clone for Scripted {
    fn clone(&self) -> Self {
        let Self { world, script, position, polls: _ } = self;
        Self { world: world.clone(), script: Rc::clone(script), position: Rc::clone(position), polls: Cell::new(0) }
    }
}

impl Service<Value> for Scripted {
    type Response = ();
    type Error = Value;
    type Future = Response;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Value>> {
        self.world.0.burn();
        let Step { polls, is_broken, .. } = self.step();
        if self.world.0.calls.get() == 0 {
            return Poll::Ready(Ok(()));
        }
        self.polls.set(self.polls.get() + 1);
        if self.polls.get() <= polls {
            return Poll::Pending;
        }
        if is_broken {
            self.next();
            return Poll::Ready(Err(Value(Rc::clone(&self.world.0), None)));
        }
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Value) -> Response {
        self.world.0.calls.set(self.world.0.calls.get() + 1);
        self.world.0.burn();
        let Step { response: polls, is_ok, .. } = self.step();
        self.next();
        Response { request, polls, is_ok }
    }
}

struct Response {
    request: Value,
    polls: u32,
    is_ok: bool,
}

impl Future for Response {
    type Output = Result<(), Value>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        self.request.0.burn();
        if self.polls > 0 {
            self.polls -= 1;
            return Poll::Pending;
        }
        Poll::Ready(if self.is_ok { Ok(()) } else { Err(Value(Rc::clone(&self.request.0), None)) })
    }
}

const CAPACITY: u32 = 1_000_000;
const COST: u32 = 7;

/// Runs a request until it ends, panics, or was polled this often. Then it is dropped. Returns whether it came to an end
/// by itself, and the numbers of calls of the service and of retries that are paid for.
fn run(script: &Rc<Vec<Step>>, max_time: Option<u64>, fuse: Option<u32>, polls: u32) -> (bool, u32, u32) {
    let world = Handle(Rc::default());
    WORLD.set(Rc::clone(&world.0));
    let strategy = StandardRetryStrategy::new()
        .jitter(Jitter::Fixed(1.0))
        .max_attempts(6)
        .quota_capacity(CAPACITY)
        .retry_costs(RetryCosts::new(COST))
        .refunds(0, Refund::Amount(0));
    let layer = RetryLayer::with_handle(&strategy)
        .policy(Policy(world.clone()))
        .timer(world.clone())
        .observer(world.clone())
        .before_attempt(|request: &mut Value, _| request.0.burn())
        .attempt_timeout(secs(3));
    let layer = layer.max_time(max_time.map_or(Duration::MAX, secs));
    let service =
        Scripted { world: world.clone(), script: Rc::clone(script), position: Rc::default(), polls: Cell::default() };
    let mut service = layer.layer(service);
    let mut context = Context::from_waker(Waker::noop());
    assert!(service.poll_ready(&mut context).is_ready());
    let mut future = Box::pin(service.call(Value(Rc::clone(&world.0), None)));
    world.0.fuse.set(fuse);
    let mut is_over = false;
    for _ in 0..polls {
        match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(&mut context))) {
            Ok(Poll::Pending) => world.0.now.set(world.0.now.get() + secs(1)),
            Ok(Poll::Ready(outcome)) => {
                world.0.fuse.set(None);
                is_over = true;
                drop(outcome);
                break;
            }
            Err(_) => break,
        }
    }
    world.0.fuse.set(None);
    drop(future);
    (is_over, world.0.calls.get(), (CAPACITY - strategy.quota().available()) / COST)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (select(vec![0, 0, 1, 2, 100]), any::<bool>(), select(vec![0, 0, 1, 2, 100]), prop::bool::weighted(0.2))
        .prop_map(|(polls, is_broken, response, is_ok)| Step { polls, is_broken, response, is_ok });
    prop::collection::vec(step, 0..6)
}

proptest! {
    #![proptest_config(cases(60))]

    // Rules W5, W8, D1, D6.
    #[test]
    fn as_many_retries_are_paid_for_as_the_service_took(script in steps(), max_time in prop::option::of(1_u64..20)) {
        let script = Rc::new(script);
        let (is_over, calls, paid) = run(&script, max_time, None, 1000);
        prop_assert!(is_over);
        prop_assert_eq!(paid, calls.saturating_sub(1));
        // Dropped after each number of polls.
        for polls in 0..60 {
            let (is_over, calls, paid) = run(&script, max_time, None, polls);
            prop_assert_eq!(paid, calls.saturating_sub(1), "dropped after {} polls", polls);
            if is_over {
                break;
            }
        }
        // With a panic in each piece of user code.
        for fuse in 0..2000 {
            let (is_over, calls, paid) = run(&script, max_time, Some(fuse), 1000);
            prop_assert_eq!(paid, calls.saturating_sub(1), "panic {}", fuse);
            if is_over {
                break;
            }
        }
    }
}

/// A service of which each clone is ready for one call only.
struct Once(Cell<bool>, Rc<Cell<u32>>);

impl Clone for Once {
    fn clone(&self) -> Self {
        Self(Cell::new(false), Rc::clone(&self.1))
    }
}

impl<Req> Service<Req> for Once {
    type Response = u32;
    type Error = Error;
    type Future = std::future::Ready<Result<u32, Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        if self.0.get() { Poll::Ready(Ok(())) } else { Poll::Pending }
    }

    fn call(&mut self, _: Req) -> Self::Future {
        self.0.set(false);
        self.1.set(self.1.get() + 1);
        std::future::ready(SAFE)
    }
}

// Rules W5, W4.
#[tokio::test(start_paused = true)]
async fn a_retry_that_an_attempt_timeout_ends_before_the_service_takes_it_gives_back_its_cost() {
    let (strategy, calls, events) = (standard(), Rc::default(), Events::default());
    let layer = RetryLayer::with_handle(&strategy).attempt_timeout(secs(7)).observer(&events);
    let outcome = layer.clone().idempotent(false).layer(Once(Cell::new(true), Rc::clone(&calls))).oneshot(()).await;
    assert!(time_was_up(&outcome).is_some());
    assert_eq!((calls.get(), strategy.quota().available()), (1, 500));
    assert_eq!(events.0.take().last().unwrap(), "tower: stopped not_retryable");

    // The timeout is retried: all attempts are made, and none is sent but the first.
    let outcome = layer.idempotent(true).layer(Once(Cell::new(true), Rc::clone(&calls))).oneshot(()).await;
    assert!(time_was_up(&outcome).is_some());
    assert_eq!((calls.get(), strategy.quota().available()), (2, 500));
    assert_eq!(events.0.take().last().unwrap(), "tower: stopped max_attempts");
}

// Rule W5.
#[tokio::test(start_paused = true)]
async fn an_unsent_retry_that_the_policy_calls_a_success_is_not_recorded() {
    let (strategy, calls, events) = (standard(), Rc::default(), Events::default());
    let judge = policy_fn(|outcome: &Result<u32, Error>| match time_was_up(outcome) {
        Some(_) => RetryDirective::succeed(),
        None => RetryDirective::retry(RetryErrorType::Other),
    });
    let layer = RetryLayer::with_handle(&strategy).policy(judge).attempt_timeout(secs(7)).observer(&events);
    assert!(strategy.quota().try_acquire(10, &retry_core::TokioTimer));
    assert!(layer.layer(Once(Cell::new(true), Rc::clone(&calls))).oneshot(()).await.is_err());
    assert_eq!((calls.get(), strategy.quota().available()), (1, 490));
    assert_eq!(events.0.take().last().unwrap(), "tower: succeeded");
}

/// An observer that keeps whether a success was recorded.
#[derive(Default)]
struct Recorded(Cell<Option<bool>>);

impl Observer for Recorded {
    fn observe(&self, event: &Event) {
        if let EventKind::Succeeded { recorded, .. } = event.kind {
            self.0.set(Some(recorded));
        }
    }
}

// Rule W5.
#[tokio::test(start_paused = true)]
async fn the_event_of_an_unsent_success_says_that_it_was_not_recorded() {
    let (strategy, recorded) = (standard(), Recorded::default());
    let judge = policy_fn(|outcome: &Result<u32, Error>| match time_was_up(outcome) {
        Some(_) => RetryDirective::succeed(),
        None => RetryDirective::retry(RetryErrorType::Other),
    });
    let layer = RetryLayer::with_handle(&strategy).policy(judge).attempt_timeout(secs(7)).observer(&recorded);
    assert!(layer.layer(Once(Cell::new(true), Rc::default())).oneshot(()).await.is_err());
    assert_eq!(recorded.0.get(), Some(false));
}

// Rule W5.
#[tokio::test(start_paused = true)]
async fn an_unsent_retry_of_a_request_that_cannot_be_cloned_again_gives_back_its_cost() {
    let (strategy, calls, clones) = (standard(), Rc::default(), Cell::new(0));
    // There is a clone for the first retry, and none after it.
    let layer = RetryLayer::with_handle(&strategy).idempotent(true).attempt_timeout(secs(7)).clone_with(|(): &()| {
        clones.set(clones.get() + 1);
        (clones.get() < 2).then_some(())
    });
    let outcome = layer.layer(Once(Cell::new(true), Rc::clone(&calls))).oneshot(()).await;
    assert!(time_was_up(&outcome).is_some());
    assert_eq!((calls.get(), strategy.quota().available()), (1, 500));
}

// Rule W5.
#[tokio::test(start_paused = true)]
async fn an_unsent_request_is_dropped_when_its_attempt_ends() {
    let (strategy, request) = (standard(), Rc::new(()));
    let layer = RetryLayer::with_handle(&strategy).idempotent(true).attempt_timeout(secs(7));
    let outcome = layer.layer(Once(Cell::new(true), Rc::default())).oneshot(Rc::clone(&request));
    let looks = async {
        // During the second attempt, which is not sent, and during the delay after it.
        let mut copies = Vec::new();
        for time in [4, 5] {
            tokio::time::sleep(secs(time)).await;
            copies.push(Rc::strong_count(&request));
        }
        copies
    };
    let (outcome, copies) = tokio::join!(outcome, looks);
    assert!(time_was_up(&outcome).is_some());
    // One is here, and one is kept for the next attempt.
    assert_eq!(copies, [3, 2]);
}

// Rule W5.
#[tokio::test(start_paused = true)]
async fn an_unsent_retry_gives_its_send_back_to_a_limiter() {
    let strategy = PacedRetryStrategy::over(standard()).ramp(false);
    strategy.pace_at(Some(0.01), false, &retry_core::TokioTimer);
    let layer = RetryLayer::with_handle(&strategy).attempt_timeout(secs(7));
    let service = layer.layer(Once(Cell::new(true), Rc::default()));
    let started = tokio::time::Instant::now();
    assert!(time_was_up(&service.oneshot(()).await).is_some());
    let passed = started.elapsed();
    assert!(passed >= secs(100), "{passed:?}: the retry waits for its send");
    // The send that the retry waited for is there for the next request.
    let calls = Rc::default();
    let mut service = layer.layer(Once(Cell::new(true), Rc::clone(&calls)));
    poll_once(Box::pin(service.call(())).as_mut());
    assert_eq!(calls.get(), 1);
}

/// Checks that an unsent failure gives back the cost and the send of its attempt, and that a limiter learns nothing.
fn gives_back<S: RetryStrategy>(name: &str, strategy: &S, is_limited: bool) {
    let clock = ByHand::at(secs(1000));
    let initial = || strategy.acquire_initial_token(&clock).unwrap();
    let throttled = Failure::of(&Failed { throttle: true, ..Failed::FATAL });
    assert!(strategy.refresh_retry_token(initial(), &throttled, &clock).is_err());
    clock.advance(secs(10));
    let level = strategy.quota_level().unwrap();

    let mut retry = strategy.refresh_retry_token(initial(), &Failure::of(&Failed::SAFE), &clock).unwrap();
    assert!(strategy.quota_level().unwrap() < level, "{name}: it is paid for");
    assert_eq!(strategy.ready(&mut retry, &clock, None), Ready::Now);
    let mut next = initial();
    if is_limited {
        while strategy.ready(&mut next, &clock, None) == Ready::Now {
            next = initial();
        }
    }
    let rate = strategy.send_rate();
    assert_eq!(rate.is_some(), is_limited, "{name}");
    // A throttling that was not sent is not one of the server's.
    for error in [Failed::SAFE, Failed::THROTTLED.after(secs(60))] {
        let failure = Failure::of(&error).with_sent(false);
        assert!(!failure.was_sent());
        retry = strategy.refresh_retry_token(retry, &failure, &clock).unwrap();
        assert_eq!(strategy.quota_level().unwrap(), level - 5, "{name}: it pays for itself only");
        assert_eq!(strategy.send_rate(), rate, "{name}: nothing is learned");
    }
    assert_eq!(strategy.ready(&mut next, &clock, None), Ready::Now, "{name}: the send is there again");
    let refused = Failure::of(&Failed::FATAL).with_sent(false);
    assert!(strategy.refresh_retry_token(retry, &refused, &clock).is_err());
    assert_eq!(strategy.quota_level().unwrap(), level, "{name}: it is given back to the last");
}

// Rule W5.
#[test]
fn each_strategy_takes_back_what_it_gave_for_an_attempt_that_was_not_sent() {
    let configured = |mode| RetryConfig::new().mode(mode).paced_ramp(false).build_on(standard()).unwrap();
    gives_back("standard", &standard(), false);
    gives_back("adaptive", &AdaptiveRetryStrategy::over(standard()), true);
    gives_back("paced", &PacedRetryStrategy::over(standard()).ramp(false), true);
    gives_back("configured, standard", &configured(RetryMode::Standard), false);
    gives_back("configured, adaptive", &configured(RetryMode::Adaptive), true);
    gives_back("configured, paced", &configured(RetryMode::Paced), true);
    gives_back("erased", &ErasedStrategy::new(AdaptiveRetryStrategy::over(standard())), true);

    // A token of another strategy gives nothing back.
    let (ours, theirs) = (standard(), standard());
    assert!(ours.quota().try_acquire(100, &ByHand::at(secs(0))));
    let token = theirs.acquire_initial_token(&ByHand::at(secs(0))).unwrap();
    let token = theirs.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &ByHand::at(secs(0))).unwrap();
    let unsent = Failure::of(&Failed::SAFE).with_sent(false);
    assert!(ours.refresh_retry_token(token, &unsent, &ByHand::at(secs(0))).is_err());
    assert_eq!(ours.quota().available(), 400);
}
