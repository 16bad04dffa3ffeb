//! The operation as this library retries it, and by hand.

use crate::clocks::Steps;
use crate::operation::{Outcome, StoreError, attempt, flaky};
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, Clock, ExponentialBackoff, Failure, Jitter, Ready, RetryDirective,
    RetryPolicy, RetryQuota, RetryStrategy, StandardRetryPolicy, StandardRetryStrategy, TokenBucket, TokioTimer, retry,
    retryable,
};
use std::cell::Cell;
use std::sync::LazyLock;
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
        let outcome = attempt(number).await;
        let Some(delay) = by_hand(&outcome, &mut retries, &QUOTA, &BACKOFF) else { return outcome };
        if !delay.is_zero() {
            Box::pin(tokio::time::sleep(delay)).await;
        }
    }
}

/// What follows from an outcome: a wait and another attempt, or nothing.
#[inline]
fn by_hand(
    outcome: &Outcome,
    retries: &mut u32,
    quota: &TokenBucket,
    backoff: &ExponentialBackoff,
) -> Option<Duration> {
    if outcome.is_ok() {
        quota.refund(1);
        return None;
    }
    failed_by_hand(outcome, retries, quota, backoff)
}

#[cold]
fn failed_by_hand(
    outcome: &Outcome,
    retries: &mut u32,
    quota: &TokenBucket,
    backoff: &ExponentialBackoff,
) -> Option<Duration> {
    let RetryDirective::Retry { error_type, retry_after, .. } = StandardRetryPolicy::new().evaluate(outcome) else {
        return None;
    };
    if *retries >= 4 || !quota.try_acquire(5, &TokioTimer) {
        return None;
    }
    let delay = backoff.compute_next_backoff_delay(*retries, error_type).max(retry_after.unwrap_or_default());
    *retries += 1;
    Some(delay)
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
        let outcome = flaky(number, failed).await;
        let Some(delay) = by_hand(&outcome, &mut retries, &LARGE_QUOTA, &PROMPT_BACKOFF) else { return outcome };
        if !delay.is_zero() {
            Box::pin(tokio::time::sleep(delay)).await;
        }
    }
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
    if let Ok(token) = strategy.acquire_initial_token(clock) {
        // It grants a retry, which is given up.
        if let Ok(retry) = strategy.refresh_retry_token(token, &Failure::of(&StoreError::SlowDown), clock) {
            strategy.release(retry);
        }
    }
    strategy
}

/// What an operation asks of its strategy, from the token to the success. Where it would have to wait, it panics.
///
/// # Errors
///
/// Those of [`attempt`].
///
/// # Panics
///
/// If the strategy refuses, or asks for a wait: the measurement would be of something else.
pub async fn by_token<S: RetryStrategy>(strategy: &S, number: u64, clock: &dyn Clock) -> Outcome {
    let Ok(mut token) = strategy.acquire_initial_token(clock) else { panic!("no token") };
    assert_eq!(strategy.ready(&mut token, clock), Ready::Now, "a wait");
    let outcome = attempt(number).await;
    assert!(strategy.record_success(token, clock).is_ok(), "a foreign token");
    outcome
}
