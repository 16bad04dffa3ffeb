//! The operation as this library retries it, and by hand.

use crate::clocks::Steps;
use crate::operation::{Outcome, StoreError, attempt, flaky};
use retry_core::strategy::Ready;
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, Clock, Event, ExponentialBackoff, Failure, Jitter, Observer,
    RetryDirective, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryPolicy, StandardRetryStrategy,
    Success, TokenBucket, TokioTimer, retry, retryable,
};
use std::cell::Cell;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A strategy as users write it.
pub static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

/// The attribute, on a static strategy with a full quota.
///
/// # Errors
///
/// Those of [`attempt`].
#[retryable(strategy = STORE)]
pub async fn attribute(number: u64) -> Outcome {
    attempt(number).await
}

/// Counts what happens.
struct Count(AtomicU64);

impl Observer for Count {
    fn observe(&self, _: &Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

static COUNT: Count = Count(AtomicU64::new(0));

/// The attribute with an observer, which is told of two events for a success, by a clock that costs nothing.
///
/// # Errors
///
/// Those of [`attempt`].
#[retryable(strategy = STORE, observer = COUNT, timer = Steps)]
pub async fn observed(number: u64) -> Outcome {
    attempt(number).await
}

/// The attribute with limits on its time, by a clock that costs nothing.
///
/// # Errors
///
/// Those of [`attempt`].
#[retryable(strategy = STORE, max_time = "30s", attempt_timeout = "5s", timer = Steps)]
pub async fn limited(number: u64) -> Outcome {
    attempt(number).await
}

/// A closure, on the same strategy.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn closure(number: u64) -> Outcome {
    retry(&STORE, || attempt(number)).run().await
}

static QUOTA: TokenBucket = TokenBucket::new(500);
static BACKOFF: ExponentialBackoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));

/// The loop as one would write it by hand around a static quota: the floor.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn hand(number: u64) -> Outcome {
    let mut retries = 0;
    loop {
        let delay = match attempt(number).await {
            Ok(number) => {
                QUOTA.refund(1);
                return Ok(number);
            }
            Err(error) => delay_by_hand(error, &mut retries, &QUOTA, &BACKOFF)?,
        };
        if !delay.is_zero() {
            Box::pin(tokio::time::sleep(delay)).await;
        }
    }
}

/// How long to wait before the next attempt, or the error if there is to be none.
#[cold]
fn delay_by_hand(
    error: StoreError,
    retries: &mut u32,
    quota: &TokenBucket,
    backoff: &ExponentialBackoff,
) -> Result<Duration, StoreError> {
    let directive = StandardRetryPolicy::new().evaluate_error(&error);
    let RetryDirective::Retry { error_type, retry_after, .. } = directive else { return Err(error) };
    if *retries >= 4 || !quota.try_acquire(5, &TokioTimer) {
        return Err(error);
    }
    let delay = backoff.compute_next_backoff_delay(*retries, error_type).max(retry_after.unwrap_or_default());
    *retries += 1;
    Ok(delay)
}

/// A quota that pays for every retry of a run, though each takes more than its success gives back.
const CAPACITY: u32 = u32::MAX;

/// Retries at once: the jitter makes every delay zero.
static PROMPT: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(CAPACITY).jitter(Jitter::Fixed(0.0));

/// The attribute: one failure, then success, without delay.
///
/// # Errors
///
/// Those of [`attempt`].
#[retryable(strategy = PROMPT)]
pub async fn flaky_attribute(number: u64, failed: &Cell<bool>) -> Outcome {
    flaky(number, failed).await
}

/// The closure: one failure, then success, without delay.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn flaky_closure(number: u64, failed: &Cell<bool>) -> Outcome {
    retry(&PROMPT, || flaky(number, failed)).run().await
}

/// Draws the default jitter for each delay, which a cap of zero makes zero.
static DRAWN: StandardRetryStrategy =
    StandardRetryStrategy::new().quota_capacity(CAPACITY).backoff(Duration::from_secs(1), Duration::ZERO);

/// The attribute: one failure, then a success, without a delay, but with the default jitter drawn.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = DRAWN)]
pub async fn flaky_drawn(number: u64, failed: &Cell<bool>) -> Outcome {
    flaky(number, failed).await
}

static LARGE_QUOTA: TokenBucket = TokenBucket::new(CAPACITY);
static PROMPT_BACKOFF: ExponentialBackoff =
    ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20)).jitter(Jitter::Fixed(0.0));

/// By hand: one failure, then success, without delay.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn flaky_hand(number: u64, failed: &Cell<bool>) -> Outcome {
    let mut retries = 0;
    loop {
        let delay = match flaky(number, failed).await {
            Ok(number) => {
                LARGE_QUOTA.refund(1);
                return Ok(number);
            }
            Err(error) => delay_by_hand(error, &mut retries, &LARGE_QUOTA, &PROMPT_BACKOFF)?,
        };
        if !delay.is_zero() {
            Box::pin(tokio::time::sleep(delay)).await;
        }
    }
}

/// One strategy for each key.
pub static SCOPES: ScopedRetryStrategy<String> = ScopedRetryStrategy::new(StandardRetryStrategy::new);

/// The attribute on the strategy of a known key: what it takes more than [`attribute`] is the lookup.
///
/// # Errors
///
/// Those of [`attempt`].
#[retryable(strategy = SCOPES.scope("photos"))]
pub async fn scoped(number: u64) -> Outcome {
    attempt(number).await
}

/// A limiter that has seen no throttling: it only measures.
pub static IDLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

/// The adaptive strategy as long as nothing was throttled, by a clock that costs nothing.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn adaptive_idle(number: u64) -> Outcome {
    by_token(&IDLE, number, &Steps).await
}

/// The adaptive strategy once it limits sends, by a clock that costs nothing.
///
/// # Errors
///
/// Those of [`attempt`].
pub async fn adaptive_limiting(number: u64) -> Outcome {
    static STRATEGY: LazyLock<AdaptiveRetryStrategy> = LazyLock::new(|| limiting(&Steps));
    by_token(&*STRATEGY, number, &Steps).await
}

/// An adaptive strategy that has seen a throttled attempt.
pub fn limiting(clock: &dyn Clock) -> AdaptiveRetryStrategy {
    let strategy = AdaptiveRetryStrategy::new();
    throttle(&strategy, clock);
    strategy
}

/// Lets a strategy see a throttled attempt. The retry that it grants is given up.
pub fn throttle<S: RetryStrategy>(strategy: &S, clock: &dyn Clock) {
    let retry = strategy
        .acquire_initial_token(clock)
        .and_then(|token| strategy.refresh_retry_token(token, &Failure::of(&StoreError::SlowDown), clock));
    if let Ok(retry) = retry {
        strategy.release(retry);
    }
}

/// What an operation asks of its strategy, from the token to the success. Where it would have to wait, it asks again at
/// once; the clocks are such that it hardly ever has to.
///
/// # Errors
///
/// Those of [`attempt`].
///
/// # Panics
///
/// If the strategy refuses, or does not know its own token.
pub async fn by_token<S: RetryStrategy>(strategy: &S, number: u64, clock: &dyn Clock) -> Outcome {
    let Ok(mut token) = strategy.acquire_initial_token(clock) else { panic!("no token") };
    while strategy.ready(&mut token, clock, None) != Ready::Now {}
    let outcome = attempt(number).await;
    assert!(strategy.record_success(token, &Success::default(), clock).is_ok(), "a foreign token");
    outcome
}
