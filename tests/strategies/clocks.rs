//! Strategies that are used with several clocks, and clocks that are late, go backwards or stand still.

use crate::support::{ByHand, Failed, Flaky, millis, secs};
use retry_core::time::{BlockingTimer, StdTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Clock, Failure, Jitter, RetryError, RetryQuota, RetrySafety, RetryStrategy,
    StandardRetryStrategy, Success, Timer, TokenBucket, TokioTimer, retry, retryable,
};
use std::cell::Cell;
use std::future::{Ready, ready};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

// Rule K1.
#[test]
fn all_clocks_of_the_library_share_one_origin() {
    for _ in 0..3 {
        let readings =
            [StdTimer.now(), TokioTimer.now(), Timestamp::from(Instant::now()), TokioTimer.now(), StdTimer.now()];
        assert!(readings.is_sorted(), "{readings:?}");
    }
}

// Rule K2.
#[test]
fn a_timestamp_of_a_later_paused_runtime_may_be_earlier() {
    let paused = |advance| {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            tokio::time::advance(advance).await;
            TokioTimer.now()
        })
    };
    let later = paused(secs(3600));
    let earlier = paused(secs(0));
    assert!(earlier < later);
    assert_eq!(earlier.saturating_since(later), Duration::ZERO);
    assert!(later.saturating_since(earlier) > secs(3000), "the clock is not frozen at the first reading");
}

/// A strategy that async and blocking callers share. Its quota is refilled once an hour.
static SHARED: StandardRetryStrategy = StandardRetryStrategy::new()
    .jitter(Jitter::Fixed(0.0))
    .max_attempts(u32::MAX)
    .quota_capacity(50)
    .quota_refill(50, Duration::from_secs(3600));

#[retryable(strategy = SHARED)]
async fn send(flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

#[retryable(strategy = SHARED, blocking)]
fn send_blocking(flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

// Rule K1.
#[tokio::test]
async fn a_quota_is_not_refilled_early_when_async_and_blocking_callers_alternate() {
    let flaky = Flaky::new(u32::MAX, Failed::SAFE);
    for _ in 0..20 {
        send(&flaky).await.unwrap_err();
        send_blocking(&flaky).unwrap_err();
    }
    // Forty first attempts, ten retries that the quota pays for, and ten more if the hour ends during the test.
    assert!(flaky.calls() <= 40 + 20, "{} sends", flaky.calls());
}

/// A clock of the library, moved ahead.
struct Ahead<'a>(&'a dyn Clock, &'a Cell<Duration>);

impl Clock for Ahead<'_> {
    fn now(&self) -> Timestamp {
        self.0.now().saturating_add(self.1.get())
    }
}

// Rule K1.
#[test]
fn a_limiter_keeps_its_rate_when_async_and_blocking_callers_alternate() {
    let passed = Cell::new(Duration::ZERO);
    let clocks = [Ahead(&StdTimer, &passed), Ahead(&TokioTimer, &passed)];
    let strategy = AdaptiveRetryStrategy::new();
    let respond = |clock: &Ahead<'_>| {
        let token = strategy.acquire_initial_token(clock).unwrap();
        strategy.record_success(token, &Success::default(), clock).unwrap();
        passed.set(passed.get() + millis(100));
    };
    (0..200).for_each(|_| respond(&clocks[0]));
    let token = strategy.acquire_initial_token(&clocks[0]).unwrap();
    let fatal = Failed { safety: RetrySafety::No, ..Failed::THROTTLED };
    strategy.refresh_retry_token(token, &Failure::of(&fatal), &clocks[0]).unwrap_err();
    let rate = strategy.send_rate().unwrap();
    assert!(rate > 6.0, "{rate}");
    for turn in 0..40 {
        respond(&clocks[turn / 2 % 2]);
        let rate = strategy.send_rate().unwrap();
        assert!(rate > 6.0, "{rate} per second at turn {turn}");
    }
}

// Rules K3, Q7.
#[test]
fn a_late_reading_does_not_refill_a_period_twice() {
    let bucket = TokenBucket::new(10_000).refill(1, millis(1));
    let clock = ByHand::at(secs(1000));
    assert!(bucket.try_acquire(10_000, &clock));
    let refilled_at = |now| {
        clock.set(now);
        assert!(!bucket.try_acquire(10_000, &clock));
        bucket.available()
    };
    assert_eq!(refilled_at(secs(1000) + millis(251)), 251);
    assert_eq!(
        refilled_at(secs(1000)),
        251,
        "a thread was delayed for 251 ms between reading its clock and using the reading"
    );
    assert_eq!(refilled_at(secs(1000) + millis(252)), 252);
    assert_eq!(refilled_at(secs(999)), 252, "the length of the delay does not matter");
    assert_eq!(refilled_at(secs(1000) + millis(253)), 253);
}

// Rule K3.
#[test]
fn a_quota_follows_a_clock_that_stays_behind() {
    let bucket = TokenBucket::new(10_000).refill(1, millis(1));
    let clock = ByHand::at(secs(1000));
    assert!(bucket.try_acquire(10_000, &clock));
    let refilled_at = |now| {
        clock.set(now);
        assert!(!bucket.try_acquire(10_000, &clock));
        bucket.available()
    };
    assert_eq!(refilled_at(secs(10)), 0);
    assert_eq!(refilled_at(secs(10) + millis(249)), 0, "it may still be late");
    assert_eq!(refilled_at(secs(10) + millis(250)), 250, "the time since the clock went back counts");
    assert_eq!(refilled_at(secs(10) + millis(300)), 300);
}

/// A timer whose clock stands still and whose sleeps end immediately.
#[derive(Default)]
struct Still {
    sleeps: Cell<u32>,
}

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(secs(1000))
    }
}

impl Timer for Still {
    type Sleep = Ready<()>;

    fn sleep(&self, _: Duration) -> Ready<()> {
        self.sleeps.set(self.sleeps.get() + 1);
        ready(())
    }
}

impl BlockingTimer for Still {
    fn block(&self, _: Duration) {
        self.sleeps.set(self.sleeps.get() + 1);
    }
}

/// Returns a strategy that limits sends and has no capacity left.
fn limiting() -> AdaptiveRetryStrategy {
    let strategy = AdaptiveRetryStrategy::over(StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)));
    let clock = Still::default();
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let fatal = Failed { safety: RetrySafety::No, ..Failed::THROTTLED };
    assert_eq!(
        strategy.refresh_retry_token(token, &Failure::of(&fatal), &clock).map(drop),
        Err(RetryError::NotRetryable)
    );
    strategy
}

// Rule K4.
#[test]
fn an_operation_yields_if_the_clock_stands_still() {
    let (strategy, timer, flaky) = (limiting(), Still::default(), Flaky::new(0, Failed::SAFE));
    let mut call = pin!(retry(&strategy, || async { flaky.call() }).timer(&timer).max_time(secs(1)).run());
    let context = &mut Context::from_waker(Waker::noop());
    for poll in 1..=1000 {
        assert!(call.as_mut().poll(context).is_pending());
        assert!(timer.sleeps.get() <= 2 * poll, "{} sleeps in {poll} polls", timer.sleeps.get());
    }
    assert_eq!(flaky.calls(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_timeout_around_a_call_works_if_its_clock_stands_still() {
    let (strategy, timer, flaky) = (limiting(), Still::default(), Flaky::new(0, Failed::SAFE));
    let call = retry(&strategy, || async { flaky.call() }).timer(&timer).run();
    // Paused time advances by itself only while all tasks are idle, and the call never is. So it is advanced here.
    let ticking = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
            tokio::time::advance(millis(100)).await;
        }
    };
    let (outcome, ()) = tokio::join!(tokio::time::timeout(secs(1), call), ticking);
    assert!(outcome.is_err());
    let mut next = strategy.acquire_initial_token(&timer).unwrap();
    assert!(strategy.ready(&mut next, &timer, None).wait().is_some(), "no send was granted to the dropped call");
}

#[test]
fn an_operation_that_yields_wakes_its_task() {
    let (strategy, timer, flaky) = (limiting(), Still::default(), Flaky::new(0, Failed::SAFE));
    let woken = std::sync::Arc::new(CountingWaker::default());
    let waker = Waker::from(std::sync::Arc::clone(&woken));
    let mut call = pin!(retry(&strategy, || async { flaky.call() }).timer(&timer).run());
    assert_eq!(call.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Pending);
    assert_eq!(woken.0.load(std::sync::atomic::Ordering::Relaxed), 1, "otherwise it would not be polled again");
}

#[derive(Default)]
struct CountingWaker(std::sync::atomic::AtomicU32);

impl std::task::Wake for CountingWaker {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    }
}

#[retryable(strategy = strategy, timer = timer, blocking)]
fn call_blocking(strategy: &AdaptiveRetryStrategy, timer: &Still, flaky: &Flaky) -> Result<u32, Failed> {
    flaky.call()
}

// Rule K4.
#[test]
fn a_blocking_attempt_is_sent_after_a_bounded_number_of_sleeps() {
    let (strategy, timer, flaky) = (limiting(), Still::default(), Flaky::new(0, Failed::SAFE));
    assert_eq!(call_blocking(&strategy, &timer, &flaky), Ok(1));
    assert!((2..=1000).contains(&timer.sleeps.get()), "{} sleeps", timer.sleeps.get());
    let mut next = strategy.acquire_initial_token(&timer).unwrap();
    assert!(strategy.ready(&mut next, &timer, None).wait().is_some(), "no send was taken from the limiter");
}

#[test]
fn an_instant_before_the_first_timestamp_can_be_converted() {
    let (hour, now) = (secs(3600), Instant::now());
    let earlier = now.checked_sub(hour).expect("the platform's clock reaches back");
    // This instant is before the first timestamp of any test, because the tests take less than an hour.
    assert_eq!(Timestamp::from(now).saturating_since(Timestamp::from(earlier)), hour);
    assert!(Timestamp::from(earlier) < TokioTimer.now());
}
