//! The operation, retried by this library and by a hand-written loop.

use crate::clocks::{Micros, Steps};
use crate::operation::{Outcome, StoreError, attempt, flaky};
use crate::waiters::{Crowd, throttle};
use retry_core::limit::Ready;
use retry_core::quota::EvidenceQuota;
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, Clock, Event, ExponentialBackoff, Hedge, Jitter, Observer,
    PatientRetryStrategy, RetryDirective, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryPolicy,
    StandardRetryStrategy, Success, TokenBucket, TokioTimer, retry, retryable,
};
use retry_limits::PacedRetryStrategy;
use std::cell::{Cell, RefCell};
use std::hint::black_box;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A strategy in a `static`, with its defaults.
pub static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

/// The attribute, with a static strategy and a full quota.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = STORE)]
pub async fn attribute(number: u64) -> Outcome {
    attempt(number).await
}

/// Counts events.
struct Count(AtomicU64);

impl Observer for Count {
    fn observe(&self, _: &Event) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

static COUNT: Count = Count(AtomicU64::new(0));

/// The attribute with an observer, which gets two events per success, and a clock that costs nothing.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = STORE, observer = COUNT, timer = Steps)]
pub async fn observed(number: u64) -> Outcome {
    attempt(number).await
}

/// The attribute with time limits and a clock that costs nothing.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = STORE, max_time = "30s", attempt_timeout = "5s", timer = Steps)]
pub async fn limited(number: u64) -> Outcome {
    attempt(number).await
}

/// The closure form, with the same strategy.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn closure(number: u64) -> Outcome {
    retry(&STORE, || attempt(number)).run().await
}

/// The attribute with a hedge. Each call is answered at its first poll, before the delay.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = STORE, idempotent, hedge = "p95")]
pub async fn hedged(number: u64) -> Outcome {
    attempt(number).await
}

/// The closure form with a hedge.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn hedged_closure(number: u64) -> Outcome {
    static HEDGE: Hedge = Hedge::p95();
    retry(&STORE, || attempt(number)).idempotent(true).hedge(&HEDGE).run().await
}

static QUOTA: TokenBucket = TokenBucket::new(500);
static BACKOFF: ExponentialBackoff = ExponentialBackoff::new(Duration::from_secs(1), Duration::from_secs(20));

/// A hand-written loop with a static quota: the minimum cost.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
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

/// Returns the delay before the next attempt, or the error if it is not retried.
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

/// A quota that pays for every retry of a run, although each retry costs more than its success refunds.
const CAPACITY: u32 = u32::MAX;

/// A strategy that retries at once: the jitter makes every delay zero.
static PROMPT: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(CAPACITY).jitter(Jitter::Fixed(0.0));

/// The attribute: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = PROMPT)]
pub async fn flaky_attribute(number: u64, failed: &Cell<bool>) -> Outcome {
    flaky(number, failed).await
}

/// The closure form: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn flaky_closure(number: u64, failed: &Cell<bool>) -> Outcome {
    retry(&PROMPT, || flaky(number, failed)).run().await
}

/// A strategy with a quota by evidence that retries at once.
static EVIDENCE: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new()).jitter(Jitter::Fixed(0.0));

/// The recommended strategy, which retries at once.
static PATIENT: PatientRetryStrategy = PatientRetryStrategy::over(
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new()).jitter(Jitter::Fixed(0.0)),
);

/// The attribute with the recommended strategy that has seen no failure.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = PATIENT, timer = Steps)]
pub async fn patient(number: u64) -> Outcome {
    attempt(number).await
}

/// The attribute with the recommended strategy: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = PATIENT, timer = Steps)]
pub async fn flaky_patient(number: u64, failed: &Cell<bool>) -> Outcome {
    flaky(number, failed).await
}

/// The attribute with a quota by evidence that has seen no failure.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = EVIDENCE, timer = Steps)]
pub async fn evidence(number: u64) -> Outcome {
    attempt(number).await
}

/// The attribute with a quota by evidence: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = EVIDENCE, timer = Steps)]
pub async fn flaky_evidence(number: u64, failed: &Cell<bool>) -> Outcome {
    flaky(number, failed).await
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

/// The hand-written loop: one failure, then a success, without a delay.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
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

/// The attribute with the strategy of a known key. The difference from [`attribute`] is the cost of the lookup.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
#[retryable(strategy = SCOPES.scope("photos"))]
pub async fn scoped(number: u64) -> Outcome {
    attempt(number).await
}

/// A limiter without any throttling so far: it only measures.
pub static IDLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();

/// The adaptive strategy before any throttling, with a clock that costs nothing.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn adaptive_idle(number: u64) -> Outcome {
    by_token(&IDLE, number, &Steps).await
}

/// The adaptive strategy while it limits sends, with a clock that costs nothing.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn adaptive_limiting(number: u64) -> Outcome {
    static STRATEGY: LazyLock<AdaptiveRetryStrategy> = LazyLock::new(|| limiting(&Steps));
    by_token(&*STRATEGY, number, &Steps).await
}

/// The paced strategy without the ramp before any throttling, with a clock that costs next to nothing. It goes on slowly,
/// because the first request in a second costs more.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn paced_idle(number: u64) -> Outcome {
    static STRATEGY: PacedRetryStrategy = PacedRetryStrategy::new().ramp(false);
    by_token(&STRATEGY, number, &Micros).await
}

/// The paced strategy while it limits sends, with a clock that costs nothing.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
pub async fn paced_limiting(number: u64) -> Outcome {
    static STRATEGY: LazyLock<PacedRetryStrategy> = LazyLock::new(|| {
        let strategy = PacedRetryStrategy::new().ramp(false);
        throttle(&strategy, &Steps);
        strategy
    });
    by_token(&*STRATEGY, number, &Steps).await
}

/// A question of one of 10,000 operations that wait for 20,000 sends per second. If it is granted, the operation ends,
/// and the next one begins.
///
/// # Errors
///
/// Returns no error.
pub async fn adaptive_crowd(number: u64) -> Outcome {
    thread_local! { static CROWD: RefCell<Crowd> = RefCell::new(Crowd::new(10_000, 2e4)) }

    CROWD.with_borrow_mut(|crowd| black_box(crowd.ask()));
    Ok(number)
}

/// Returns an adaptive strategy after a throttled attempt.
pub fn limiting(clock: &dyn Clock) -> AdaptiveRetryStrategy {
    let strategy = AdaptiveRetryStrategy::new();
    throttle(&strategy, clock);
    strategy
}

/// Calls the strategy as an operation does, from the token to the success. Instead of waiting, it calls `ready` again
/// at once; with the clocks used here, that is hardly ever necessary.
///
/// # Errors
///
/// Returns the errors of [`attempt`].
///
/// # Panics
///
/// Panics if the strategy refuses, or does not accept its own token.
pub async fn by_token<S: RetryStrategy>(strategy: &S, number: u64, clock: &dyn Clock) -> Outcome {
    let Ok(mut token) = strategy.acquire_initial_token(clock) else { panic!("the strategy refused the initial token") };
    while strategy.ready(&mut token, clock, None) != Ready::Now {}
    let outcome = attempt(number).await;
    assert!(
        strategy.record_success(token, &Success::default(), clock).is_ok(),
        "the strategy did not accept its own token"
    );
    outcome
}
