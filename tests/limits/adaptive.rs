//! The adaptive strategy: when it limits sends, in which order waiters are served, and known pitfalls.

mod formulas;
mod late;
mod queue;
mod waiters;

use crate::support::{ByHand, Failed, Flaky, millis, poll_once, secs};
use retry_core::limit::Ready;
use retry_core::strategy::ForeignToken;
use retry_core::time::Timestamp;
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErrorFault, Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken,
    StandardRetryStrategy, Success, TokioTimer, retry, retryable,
};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

type Token = <AdaptiveRetryStrategy as RetryStrategy>::Token;

const fn eager() -> AdaptiveRetryStrategy {
    AdaptiveRetryStrategy::over(StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(1_000_000))
}

/// Makes one operation whose attempt is answered immediately.
fn respond(strategy: &AdaptiveRetryStrategy, clock: &ByHand, error: Option<Failed>) {
    let token = strategy.acquire_initial_token(clock).unwrap();
    match error {
        None => strategy.record_success(token, &Success::default(), clock).unwrap(),
        Some(error) => drop(strategy.refresh_retry_token(token, &Failure::of(&error), clock)),
    }
}

/// Returns a strategy that limits sends to 7 per second and has no capacity left. It measured 10 per second for a while
/// and has just been throttled.
fn limiting(clock: &ByHand) -> AdaptiveRetryStrategy {
    let strategy = eager();
    for _ in 0..200 {
        respond(&strategy, clock, None);
        clock.advance(millis(100));
    }
    respond(&strategy, clock, Some(Failed { safety: retry_core::RetrySafety::No, ..Failed::THROTTLED }));
    let rate = strategy.send_rate().unwrap();
    assert!((6.5..=7.5).contains(&rate), "{rate}");
    // Use up the capacity.
    loop {
        let mut token = new_token(&strategy, clock);
        if ask(&strategy, clock, &mut token).is_some() {
            strategy.release(token);
            return strategy;
        }
    }
}

fn new_token(strategy: &AdaptiveRetryStrategy, clock: &ByHand) -> Token {
    strategy.acquire_initial_token(clock).unwrap()
}

fn ask(strategy: &AdaptiveRetryStrategy, clock: &ByHand, token: &mut Token) -> Option<Duration> {
    match strategy.ready(token, clock, None) {
        Ready::After(wait) => Some(wait),
        _ => None,
    }
}

/// Asks again after each wait until the send is granted. Returns the total wait.
fn wait_for(strategy: &AdaptiveRetryStrategy, clock: &ByHand, token: &mut Token) -> Duration {
    let started = clock.time();
    while let Some(wait) = ask(strategy, clock, token) {
        assert!(wait > Duration::ZERO && wait <= millis(100), "{wait:?}");
        clock.advance(wait);
    }
    clock.time().abs_diff(started)
}

// Rule A1.
#[tokio::test(start_paused = true)]
async fn without_throttling_it_is_the_standard_strategy() {
    #[derive(serde::Deserialize)]
    struct Vectors {
        integration: Vec<Case>,
    }
    #[derive(serde::Deserialize)]
    struct Case {
        given: Given,
        operations: Vec<Vec<String>>,
        expect_cumulative_sleep_s: Vec<f64>,
    }
    #[derive(serde::Deserialize)]
    struct Given {
        jitter: f64,
        max_attempts: u32,
        #[serde(alias = "base_non_throttling_s")]
        base_s: f64,
    }

    let vectors: Vectors = serde_json::from_str(include_str!("../vectors/adaptive.json")).unwrap();
    for Case { given, operations, expect_cumulative_sleep_s } in &vectors.integration {
        let strategy = AdaptiveRetryStrategy::over(
            StandardRetryStrategy::aws_2_1()
                .max_attempts(given.max_attempts)
                .backoff(Duration::from_secs_f64(given.base_s), secs(20))
                .jitter(Jitter::Fixed(given.jitter)),
        );
        let started = Instant::now();
        assert_eq!(operations.len(), expect_cumulative_sleep_s.len());
        for (responses, expected) in operations.iter().zip(expect_cumulative_sleep_s) {
            let failures = responses.iter().filter(|response| *response == "error").count();
            let flaky = Flaky::new(u32::try_from(failures).unwrap(), Failed::SAFE);
            let _ = retry(&strategy, || async { flaky.call() }).run().await;
            assert_eq!(started.elapsed(), Duration::from_secs_f64(*expected));
        }
        assert_eq!(strategy.send_rate(), None);
    }
    assert_eq!(vectors.integration.len(), 2);
}

// Rule A1.
#[test]
fn timeouts_and_server_errors_never_limit_sends() {
    let (clock, strategy) = (ByHand::at(secs(100_000)), eager());
    for _ in 0..100 {
        respond(&strategy, &clock, Some(Failed::TIMEOUT));
        respond(&strategy, &clock, Some(Failed { fault: ErrorFault::Server, ..Failed::SAFE }));
        clock.advance(millis(50));
    }
    assert_eq!(strategy.send_rate(), None);
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    respond(&strategy, &clock, Some(Failed::THROTTLED));
    assert!(strategy.send_rate().is_some());
}

// Rules A2, A7.
#[test]
fn a_final_throttling_is_learned_from_as_well() {
    let (clock, strategy) = (ByHand::at(secs(100_000)), eager());
    respond(&strategy, &clock, Some(Failed { throttle: true, ..Failed::FATAL }));
    assert_eq!(strategy.send_rate(), Some(0.5), "the minimum rate, because nothing was measured yet");
}

// Rule A3.
#[test]
fn first_attempts_are_limited_too() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    for _ in 0..10 {
        let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
        assert!(waited.abs_diff(interval) < millis(1), "{waited:?} instead of {interval:?}");
    }
}

// Rule A4.
#[test]
fn the_permission_comes_after_the_backoff_directly_before_the_attempt() {
    let clock = ByHand::at(secs(100_000));
    let strategy = AdaptiveRetryStrategy::over(StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert_eq!(token.delay(), secs(1), "the backoff comes first");
    clock.advance(secs(1));
    // At half a send per second, half a send became available during the backoff.
    assert!(wait_for(&strategy, &clock, &mut token).abs_diff(secs(1)) < millis(1));
    assert_eq!(ask(&strategy, &clock, &mut token), None, "a granted send is not charged again");
    assert_eq!(token.attempt(), 2);
    assert_eq!(token.delay(), secs(1));
}

// Rule A15.
#[test]
fn the_clock_is_read_once_per_operation_without_a_limit_and_twice_with_one() {
    let (clock, strategy) = (ByHand::at(secs(100_000)), eager());
    let call = || {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut token, &clock, None), Ready::Now);
        strategy.record_success(token, &Success::default(), &clock).unwrap();
    };
    assert_eq!(clock.readings_of(call), 2, "the first reading anchors the limiter");
    assert_eq!(clock.readings_of(call), 1);
    respond(&strategy, &clock, Some(Failed::THROTTLED));
    clock.advance(secs(10));
    assert_eq!(clock.readings_of(call), 2);
}

/// Returns a strategy that was throttled before it measured anything: it limits sends to 0.5 per second and has no
/// capacity.
fn slowest(clock: &ByHand) -> AdaptiveRetryStrategy {
    let strategy = eager();
    respond(&strategy, clock, Some(Failed { throttle: true, ..Failed::FATAL }));
    assert_eq!(strategy.send_rate(), Some(0.5));
    strategy
}

// Rule K3.
#[test]
fn a_clock_that_goes_backwards_neither_refills_nor_freezes() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    let mut unasked = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut unasked).is_some());
    clock.set(clock.time().saturating_sub(secs(3600)));
    let mut token = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut token).is_some(), "no time has passed");
    let waited = wait_for(&strategy, &clock, &mut token);
    assert!(waited <= 2 * interval + millis(300), "{waited:?}");
    let started = clock.time();
    for _ in 0..20 {
        wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    }
    let took = clock.time().abs_diff(started);
    assert!(took.abs_diff(20 * interval) < 2 * interval, "20 sends in {took:?}");

    // The rate is measured on the new timeline: 20 per second, so the limit is 40 per second.
    for _ in 0..400 {
        respond(&strategy, &clock, None);
        clock.advance(millis(50));
    }
    let rate = strategy.send_rate().unwrap();
    assert!((39.0..=41.0).contains(&rate), "{rate}");
}

// Rule R13.
#[test]
fn a_foreign_token_is_refused_and_nothing_is_learned() {
    let clock = ByHand::at(secs(100_000));
    let (ours, theirs) = (eager(), eager());
    respond(&ours, &clock, None);
    let throttled = Failure::of(&Failed::THROTTLED);
    let refused = ours.refresh_retry_token(new_token(&theirs, &clock), &throttled, &clock);
    assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
    assert_eq!(ours.send_rate(), None);
    let foreign = new_token(&theirs, &clock);
    let readings =
        clock.readings_of(|| assert_eq!(ours.record_success(foreign, &Success::default(), &clock), Err(ForeignToken)));
    assert_eq!(readings, 0, "nothing is learned from its success either");

    let ours = limiting(&clock);
    let mut foreign = new_token(&theirs, &clock);
    assert_eq!(ours.ready(&mut foreign, &clock, None), Ready::Now);
    ours.release(foreign);
    assert_eq!(ours.standard().quota().available(), 1_000_000);
}

// Rules D1, D3.
#[tokio::test(start_paused = true)]
async fn an_operation_dropped_while_it_waits_for_its_send_is_refunded_and_leaves_the_queue() {
    #[retryable(strategy = strategy)]
    async fn call(strategy: &AdaptiveRetryStrategy, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let strategy = eager();
    let flaky = Flaky::new(u32::MAX, Failed::THROTTLED);
    {
        // The first attempt enables the limiter; the retry waits for its permission.
        let mut retried = pin!(call(&strategy, &flaky));
        poll_once(retried.as_mut());
        let mut first = pin!(call(&strategy, &flaky));
        poll_once(first.as_mut());
        assert_eq!((flaky.calls(), strategy.standard().quota().available()), (1, 999_995));
    }
    assert_eq!(strategy.standard().quota().available(), 1_000_000);
    // No waiter is ahead.
    let mut token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    tokio::time::advance(secs(2)).await;
    assert_eq!(strategy.ready(&mut token, &TokioTimer, None), Ready::Now);
}

// Rules A6, K3.
#[test]
fn the_rate_begins_to_grow_again_at_each_throttling_and_when_the_clock_is_set_back() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let answers = |seconds: u32| {
        for _ in 0..10 * seconds {
            clock.advance(millis(100));
            respond(&strategy, &clock, None);
        }
        strategy.send_rate().unwrap()
    };
    let rate = answers(20);
    assert!((19.0..=21.0).contains(&rate), "{rate}: it has grown up to twice the rate of the answers");
    respond(&strategy, &clock, Some(Failed::THROTTLED));
    let rate = answers(1);
    assert!((6.0..11.0).contains(&rate), "{rate}: about the rate of the throttling");
    let rate = answers(20);
    assert!((19.0..=21.0).contains(&rate), "{rate}");
    clock.set(clock.time().saturating_sub(secs(3600)));
    let rate = answers(1);
    assert!((6.0..11.0).contains(&rate), "{rate}: no time has passed since the throttling");
}

/// A clock shared by threads, which their waits advance.
#[derive(Default)]
struct Shared(AtomicU64);

impl Clock for Shared {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(secs(1000) + Duration::from_nanos(self.0.load(Ordering::SeqCst)))
    }
}

// Rule A9.
#[test]
fn threads_together_keep_to_the_rate_and_every_operation_is_sent() {
    let (clock, strategy) = (Shared::default(), eager());
    let fatal = Failure::of(&Failed { throttle: true, ..Failed::FATAL });
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.refresh_retry_token(token, &fatal, &clock).unwrap_err();
    let sent = AtomicU32::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (clock, strategy, sent) = (&clock, &strategy, &sent);
            scope.spawn(move || {
                for operation in 0..50 {
                    let mut token = strategy.acquire_initial_token(clock).unwrap();
                    while let Ready::After(wait) = strategy.ready(&mut token, clock, None) {
                        if (operation + thread) % 5 == 0 {
                            break;
                        }
                        clock.0.fetch_add(u64::try_from(wait.as_nanos()).unwrap(), Ordering::SeqCst);
                    }
                    if (operation + thread) % 5 == 0 {
                        // A fifth of the operations leaves, whether its send was granted or not.
                        strategy.release(token);
                    } else {
                        // It was sent, and its response is not reported.
                        sent.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    // Half a send per second, because no response was reported since.
    let allowed = 0.5 * clock.now().saturating_since(Timestamp::from_origin(secs(1000))).as_secs_f64();
    assert_eq!(sent.load(Ordering::SeqCst), 160);
    assert!(f64::from(sent.into_inner()) <= allowed + 1.0, "160 sends in a time that allows {allowed}");
    assert_eq!(strategy.send_rate(), Some(0.5));
}

/// A service that accepts `rate` requests per second, and as many together.
struct Limited {
    rate: f64,
    state: RefCell<(f64, Instant)>,
    throttled: RefCell<Vec<Duration>>,
    started: Instant,
}

impl Limited {
    fn new(rate: f64) -> Self {
        let now = Instant::now();
        Self { rate, state: RefCell::new((rate, now)), throttled: RefCell::default(), started: now }
    }

    fn call(&self) -> Result<(), Failed> {
        let (tokens, last) = &mut *self.state.borrow_mut();
        *tokens = self.rate.min(*tokens + self.rate * last.elapsed().as_secs_f64());
        *last = Instant::now();
        if *tokens >= 1.0 {
            *tokens -= 1.0;
            return Ok(());
        }
        self.throttled.borrow_mut().push(self.started.elapsed());
        Err(Failed::THROTTLED)
    }
}

#[tokio::test(start_paused = true)]
async fn no_operation_fails_in_a_job_that_exceeds_the_limit_of_a_service() {
    static STRATEGY: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

    #[retryable(strategy = STRATEGY)]
    async fn send(service: &Limited) -> Result<(), Failed> {
        tokio::time::sleep(millis(10)).await;
        service.call()
    }

    let service = Rc::new(Limited::new(100.0));
    let left = Rc::new(Cell::new(2000));
    let started = Instant::now();
    let tasks = tokio::task::LocalSet::new();
    for _ in 0..64 {
        let (service, left) = (Rc::clone(&service), Rc::clone(&left));
        tasks.spawn_local(async move {
            while left.get() > 0 {
                left.set(left.get() - 1);
                send(&service).await.expect("every operation succeeds");
            }
        });
    }
    tasks.await;
    // 2000 sends at 100 per second, after a burst of 100.
    let took = started.elapsed();
    assert!(took >= secs(18) && took < secs(40), "{took:?}");
}
