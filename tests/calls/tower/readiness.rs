//! What the layers ask of services, strategies and timers, and how often.

use super::standard;
use crate::support::{Failed, millis, secs};
use ::tower::{Layer, Service, ServiceExt};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, Failure, Hedge, RetryError, RetryQuota, RetryStrategy, RetryToken, Success, Timer, TokioTimer,
};
use retry_tower::RetryLayer;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep};

type Outcome = Result<u32, Failed>;

const SAFE: Outcome = Err(Failed::SAFE);

static AFTER: Hedge = Hedge::after(millis(100));

/// What happens, in order.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// A service that must be polled until it is ready before each call, and whose clones are not ready. It answers each request after
/// a time.
struct Strict {
    is_ready: bool,
    plan: Arc<Mutex<Vec<(u64, Outcome)>>>,
    log: Log,
}

impl Strict {
    fn new(log: &Log, plan: impl IntoIterator<Item = (u64, Outcome)>) -> Self {
        let mut plan: Vec<_> = plan.into_iter().collect();
        plan.reverse();
        Self { is_ready: false, plan: Arc::new(Mutex::new(plan)), log: log.clone() }
    }
}

impl Clone for Strict {
    fn clone(&self) -> Self {
        Self { is_ready: false, plan: Arc::clone(&self.plan), log: self.log.clone() }
    }
}

impl Drop for Strict {
    fn drop(&mut self) {
        if self.is_ready {
            self.log.note("unused");
        }
    }
}

impl Service<u32> for Strict {
    type Response = u32;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Outcome> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        self.log.note("ready");
        self.is_ready = true;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: u32) -> Self::Future {
        assert!(std::mem::take(&mut self.is_ready), "it was not polled until it was ready");
        self.log.note("call");
        let (time, outcome) = self.plan.lock().unwrap().pop().unwrap();
        Box::pin(async move {
            sleep(millis(time)).await;
            outcome
        })
    }
}

// Rule W4.
#[tokio::test(start_paused = true)]
async fn a_service_is_polled_until_it_is_ready_once_for_each_attempt() {
    let log = Log::default();
    let layer = RetryLayer::new(Arc::new(standard()));
    let plan = [(10, SAFE), (10, SAFE), (10, Ok(3))];
    assert_eq!(layer.layer(Strict::new(&log, plan)).oneshot(1).await, Ok(3));
    assert_eq!(log.take(), ["ready", "call"].repeat(3));

    // A hedge beside the first attempt, and a retry after both.
    let plan = [(300, SAFE), (10, SAFE), (10, Ok(3))];
    let hedged = layer.clone().idempotent(true).hedge(&AFTER);
    assert_eq!(hedged.layer(Strict::new(&log, plan)).oneshot(1).await, Ok(3));
    assert_eq!(log.take(), ["ready", "call"].repeat(3));
}

// Rules W4, W9.
#[tokio::test(start_paused = true)]
async fn a_service_that_is_ready_for_a_hedge_which_is_not_sent_is_dropped_before_the_first_attempt_ends() {
    let (log, strategy) = (Log::default(), Arc::new(standard()));
    assert!(strategy.quota().try_acquire(251, &TokioTimer), "what is left is kept for retries");
    let layer = RetryLayer::new(strategy).idempotent(true).hedge(&AFTER);
    let plan = [(300, SAFE), (10, Ok(2))];
    assert_eq!(layer.layer(Strict::new(&log, plan)).oneshot(1).await, Ok(2));
    assert_eq!(log.take(), ["ready", "call", "ready", "unused", "ready", "call"]);
}

/// A strategy that sells hedges, and grants retries with this delay. Each operation waits for these delays before its first
/// attempt: that of its token, and twice that of a limiter.
#[derive(Debug, Default)]
struct Delaying {
    initial: Duration,
    limiter: Duration,
    retry: Duration,
    log: Mutex<Vec<&'static str>>,
}

struct Token {
    attempt: u32,
    delay: Duration,
    /// How often the limiter still lets the operation wait.
    waits: u32,
}

impl RetryToken for Token {
    fn attempt(&self) -> u32 {
        self.attempt
    }

    fn delay(&self) -> Duration {
        self.delay
    }
}

impl Delaying {
    fn note(&self, what: &'static str) {
        self.log.lock().unwrap().push(what);
    }

    fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

impl RetryStrategy for Delaying {
    type Token = Token;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Token, RetryError> {
        self.note("initial");
        Ok(Token { attempt: 1, delay: self.initial, waits: if self.limiter.is_zero() { 0 } else { 2 } })
    }

    fn refresh_retry_token(&self, token: Token, _: &Failure, _: &dyn Clock) -> Result<Token, RetryError> {
        self.note("retry");
        Ok(Token { attempt: token.attempt + 1, delay: self.retry, waits: 0 })
    }

    fn record_success(&self, _: Token, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        self.note("success");
        Ok(())
    }

    fn ready(&self, token: &mut Token, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        self.note("ready");
        match token.waits {
            0 => Ready::Now,
            waits => {
                token.waits = waits - 1;
                Ready::After(self.limiter)
            }
        }
    }

    fn acquire_hedge(&self, token: &Token, _: &dyn Clock) -> Result<Token, RetryError> {
        self.note("hedge");
        Ok(Token { attempt: token.attempt + 1, delay: Duration::ZERO, waits: 0 })
    }

    fn release(&self, _: Token) {
        self.note("release");
    }
}

// Rules W1, W9.
#[tokio::test(start_paused = true)]
async fn the_first_attempt_waits_for_the_delay_of_its_token_and_for_the_limiter() {
    for (initial, limiter) in [(0, 0), (7, 0), (0, 3), (7, 3)] {
        let strategy = || Arc::new(Delaying { initial: secs(initial), limiter: secs(limiter), ..Delaying::default() });
        let asked = if limiter == 0 { 1 } else { 3 };
        let wait = secs(initial + 2 * limiter);
        let expected = |rest: &[&'static str]| [&["initial"][..], &["ready"].repeat(asked), rest].concat();

        let (plain, started) = (strategy(), Instant::now());
        let service = RetryLayer::new(Arc::clone(&plain)).layer(Strict::new(&Log::default(), [(500, Ok(1))]));
        assert_eq!(service.oneshot(1).await, Ok(1));
        assert_eq!((started.elapsed(), plain.take()), (wait + millis(500), expected(&["success"])));

        // The hedge has the permission of the limiter already.
        let (hedged, started) = (strategy(), Instant::now());
        let layer = RetryLayer::new(Arc::clone(&hedged)).idempotent(true).hedge(&AFTER);
        let service = layer.layer(Strict::new(&Log::default(), [(500, Ok(1)), (50, Ok(2))]));
        assert_eq!(service.oneshot(1).await, Ok(2));
        assert_eq!(started.elapsed(), wait + millis(150));
        assert_eq!(hedged.take(), expected(&["hedge", "ready", "success"]));
    }
}

// Rules W8, D1.
#[tokio::test(start_paused = true)]
async fn a_request_is_changed_only_for_attempts_that_are_made() {
    let (changes, log) = (AtomicU32::new(0), Log::default());
    let strategy = Delaying { limiter: secs(10), ..Delaying::default() };
    let layer = RetryLayer::with_handle(&strategy).max_time(secs(5)).before_attempt(|_: &mut u32, _| {
        changes.fetch_add(1, Ordering::Relaxed);
    });
    let outcome = layer.layer(Strict::new(&log, [])).oneshot(1).await;
    assert_eq!(outcome, Err(Failed::TIMEOUT), "the wait for the limiter is too long");
    assert_eq!((changes.load(Ordering::Relaxed), log.take()), (0, vec!["ready", "unused"]));
    assert_eq!(strategy.take(), ["initial", "ready", "release"]);
}

/// A timer that counts its sleeps.
#[derive(Clone, Default)]
struct Counting(Arc<AtomicU32>);

impl Clock for Counting {
    fn now(&self) -> Timestamp {
        TokioTimer.now()
    }
}

impl Timer for Counting {
    type Sleep = Sleep;

    fn sleep(&self, delay: Duration) -> Sleep {
        self.0.fetch_add(1, Ordering::Relaxed);
        sleep(delay)
    }
}

// Rules W1, W9.
#[tokio::test(start_paused = true)]
async fn no_attempt_without_a_delay_sleeps() {
    let strategy = Arc::new(Delaying::default());
    let plan = || [(10, SAFE), (10, Ok(2))];
    let timer = Counting::default();
    let layer = RetryLayer::new(Arc::clone(&strategy)).idempotent(true).timer(timer.clone());
    assert_eq!(layer.clone().layer(Strict::new(&Log::default(), plan())).oneshot(1).await, Ok(2));
    assert_eq!(timer.0.load(Ordering::Relaxed), 0);
    assert_eq!(layer.hedge(&AFTER).layer(Strict::new(&Log::default(), plan())).oneshot(1).await, Ok(2));
    assert_eq!(timer.0.load(Ordering::Relaxed), 1, "the sleep until a hedge, which the retry does not have");
}

/// A service whose clone panics from the second one on: the first one stays in the stack.
struct Brittle(Arc<AtomicU32>);

impl Clone for Brittle {
    fn clone(&self) -> Self {
        assert!(self.0.fetch_add(1, Ordering::Relaxed) < 1, "in a test");
        Self(Arc::clone(&self.0))
    }
}

impl Service<u32> for Brittle {
    type Response = u32;
    type Error = Failed;
    type Future = std::future::Ready<Outcome>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: u32) -> Self::Future {
        std::future::ready(Ok(1))
    }
}

// Rules W9, D6.
#[tokio::test(start_paused = true)]
async fn a_service_whose_clone_panics_before_the_first_attempt_releases_its_token() {
    let strategy = Arc::new(Delaying::default());
    let mut stack =
        RetryLayer::new(Arc::clone(&strategy)).idempotent(true).hedge(&AFTER).layer(Brittle(Arc::default()));
    let mut response = stack.ready().await.unwrap().call(1);
    let poll = || Pin::new(&mut response).poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready();
    assert!(catch_unwind(AssertUnwindSafe(poll)).is_err());
    drop(response);
    assert_eq!(strategy.take(), ["initial", "release"]);
}
