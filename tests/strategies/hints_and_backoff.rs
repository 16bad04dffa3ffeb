//! Waits that the server asks for in place of the backoff, and a backoff that sees them.

use crate::support::{Failed, millis, secs};
use retry_config::{RetryConfig, RetryMode};
use retry_core::backoff::BackoffContext;
use retry_core::strategy::{DelaySource, HintJitter, HintLimit, StandardRetrySettings};
use retry_core::{
    AdaptiveRetryStrategy, BackoffStrategy, ErasedStrategy, Failure, Jitter, PatientRetryStrategy, RetryError,
    RetryErrorType, RetryStrategy, RetryToken, StandardRetryStrategy, TokenBucket, TokioTimer, retry,
};
use retry_limits::PacedRetryStrategy;
use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The backoff before a first retry.
const BACKOFF: Duration = secs(8);

/// A backoff without jitter.
const fn exact() -> StandardRetryStrategy {
    StandardRetryStrategy::new().backoff(BACKOFF, secs(10)).jitter(Jitter::None)
}

/// Returns the delay of a first retry and its source, or why there is none.
fn first_delay(strategy: &impl RetryStrategy, error: Failed) -> Result<(Duration, DelaySource), RetryError> {
    let token = strategy.acquire_initial_token(&TokioTimer)?;
    let token = strategy.refresh_retry_token(token, &Failure::of(&error), &TokioTimer)?;
    Ok((token.delay(), token.delay_source()))
}

#[track_caller]
fn assert_replaces(strategy: &impl RetryStrategy, replaces: bool) {
    for hint in [Duration::ZERO, millis(1), secs(3), BACKOFF, secs(9)] {
        let expected =
            if replaces || hint > BACKOFF { (hint, DelaySource::RetryAfter) } else { (BACKOFF, DelaySource::Backoff) };
        assert_eq!(first_delay(strategy, Failed::SAFE.after(hint)), Ok(expected), "{hint:?}");
    }
    assert_eq!(first_delay(strategy, Failed::SAFE), Ok((BACKOFF, DelaySource::Backoff)), "no wait was asked for");
}

// Rules B4, B12.
#[test]
fn each_strategy_can_replace_its_backoff_by_a_hint_and_does_not_by_default() {
    for replaces in [false, true] {
        let standard = || if replaces { exact().hint_replaces_backoff(true) } else { exact() };
        assert_replaces(&standard(), replaces);
        assert_replaces(&PatientRetryStrategy::over(standard()), replaces);
        assert_replaces(&AdaptiveRetryStrategy::over(standard()), replaces);
        assert_replaces(&PacedRetryStrategy::over(standard()), replaces);
        assert_replaces(&ErasedStrategy::new(standard()), replaces);
        for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
            let config = RetryConfig::new().mode(mode);
            assert_replaces(&config.clone().build_on(standard()).unwrap(), replaces);
            assert_replaces(&config.hint_replaces_backoff(!replaces).build_on(standard()).unwrap(), !replaces);
        }
    }
    // In the range of the backoff of `new`, which is random.
    let patient = PatientRetryStrategy::new().hint_replaces_backoff(true).seed(1);
    for _ in 0..100 {
        let (delay, source) = first_delay(&patient, Failed::SAFE.after(millis(1))).unwrap();
        assert!((millis(1)..=Duration::from_micros(1100)).contains(&delay), "{delay:?}");
        assert_eq!(source, DelaySource::RetryAfter);
    }
}

// Rules B5, B10, B12, N13.
#[test]
fn the_limits_and_the_jitter_of_hints_apply_to_a_hint_that_replaces_the_backoff() {
    let replacing = exact().hint_replaces_backoff(true).max_retry_after(Some(secs(100)));
    let delay = |limit, hint| first_delay(&exact_with(limit), Failed::SAFE.after(hint)).unwrap().0;
    for (limit, hint, expected) in [
        (HintLimit::Unlimited, secs(90), secs(90)),
        (HintLimit::MaxBackoff, secs(90), secs(10)),
        (HintLimit::MaxBackoff, secs(2), secs(2)),
        (HintLimit::BeyondBackoff(secs(5)), secs(90), secs(13)),
        (HintLimit::BeyondBackoff(secs(5)), secs(2), secs(2)),
    ] {
        assert_eq!(delay(limit, hint), expected, "{limit:?} {hint:?}");
    }
    let refused = first_delay(&replacing, Failed::SAFE.after(millis(100_001)));
    assert_eq!(refused, Err(RetryError::RetryAfterTooLong));

    // With a random jitter of the backoff, a random part is added.
    let random = exact_with(HintLimit::Unlimited).jitter(Jitter::Full).hint_jitter(HintJitter::new(50, secs(60)));
    let delays: Vec<_> = (0..1000).map(|_| first_delay(&random, Failed::SAFE.after(secs(2))).unwrap().0).collect();
    let (shortest, longest) = (*delays.iter().min().unwrap(), *delays.iter().max().unwrap());
    assert!((secs(2)..millis(2050)).contains(&shortest), "{shortest:?}");
    assert!((millis(2950)..=secs(3)).contains(&longest), "{longest:?}");
}

fn exact_with(limit: HintLimit) -> StandardRetryStrategy {
    exact().quota_capacity(u32::MAX).hint_replaces_backoff(true).hint_limit(limit)
}

// Rule B12.
#[tokio::test(start_paused = true)]
async fn the_quota_bounds_retries_that_a_hint_of_zero_makes_immediate() {
    let strategy = exact().quota_capacity(35).hint_replaces_backoff(true);
    let (started, mut attempts) = (Instant::now(), 0);
    let attempt = || {
        attempts += 1;
        ready(Err::<(), _>(Failed::SAFE.after(Duration::ZERO)))
    };
    let report = retry(&strategy, attempt).unlimited_attempts().report().await;
    assert!(report.outcome.is_err());
    assert_eq!(report.reason, Some(RetryError::QuotaExhausted));
    assert_eq!((attempts, started.elapsed()), (8, Duration::ZERO), "seven retries for 5 each");
}

/// Records what it is told, and returns the delays of a script.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<BackoffContext>>>);

impl BackoffStrategy for Recorder {
    fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
        unreachable!("strategies call the other method")
    }

    fn delay_in_context(&self, context: &BackoffContext) -> Duration {
        let mut contexts = self.0.lock().unwrap();
        contexts.push(*context);
        secs(contexts.len() as u64)
    }

    fn random_part(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

/// Makes five attempts: the first two fail without a wait of the server, one with a wait, one with a conflict.
async fn contexts(strategy: &impl RetryStrategy, recorder: &Recorder) -> Vec<BackoffContext> {
    let conflict = Failed { conflict: true, ..Failed::SAFE };
    let mut errors = vec![Failed::THROTTLED, conflict, Failed::SAFE.after(secs(30)), Failed::THROTTLED, Failed::SAFE];
    let attempt = || ready(Err::<(), _>(errors.pop().unwrap()));
    assert!(retry(strategy, attempt).run().await.is_err());
    std::mem::take(&mut recorder.0.lock().unwrap())
}

// Rule B13.
#[tokio::test(start_paused = true)]
async fn a_backoff_sees_the_hint_and_the_previous_delay_in_each_strategy() {
    fn context(retry: u32, class: RetryErrorType, hint: Option<Duration>, previous: Duration) -> BackoffContext {
        let mut context = BackoffContext::new(retry, class);
        (context.retry_after, context.previous_delay) = (hint, previous);
        context
    }

    let recorder = Recorder::default();
    let standard = || {
        let settings = StandardRetrySettings::new();
        StandardRetryStrategy::from_parts(settings, recorder.clone(), TokenBucket::new(500))
    };
    let expected = [
        context(0, RetryErrorType::Other, None, Duration::ZERO),
        context(1, RetryErrorType::Throttling, None, secs(1)),
        context(2, RetryErrorType::Other, Some(secs(30)), secs(2)),
        // The wait of the server was longer than the backoff.
        context(0, RetryErrorType::Conflict, None, secs(30)),
    ];
    assert_eq!(contexts(&standard(), &recorder).await, expected);
    assert_eq!(contexts(&PatientRetryStrategy::over(standard()), &recorder).await, expected);
    assert_eq!(contexts(&AdaptiveRetryStrategy::over(standard()), &recorder).await, expected);
    assert_eq!(contexts(&ErasedStrategy::new(standard()), &recorder).await, expected);
    assert_eq!(contexts(&RetryConfig::new().build_on(standard()).unwrap(), &recorder).await, expected);
    let boxed: Box<dyn BackoffStrategy + Send + Sync> = Box::new(recorder.clone());
    let boxed = StandardRetryStrategy::from_parts(StandardRetrySettings::new(), boxed, TokenBucket::new(500));
    assert_eq!(contexts(&boxed, &recorder).await, expected);
}

/// Decorrelated jitter.
struct Decorrelated {
    base: Duration,
    cap: Duration,
}

impl BackoffStrategy for Decorrelated {
    fn compute_next_backoff_delay(&self, retry: u32, error_type: RetryErrorType) -> Duration {
        self.delay_in_context(&BackoffContext::new(retry, error_type))
    }

    fn delay_in_context(&self, context: &BackoffContext) -> Duration {
        let most = context.previous_delay.max(self.base).saturating_mul(3);
        self.cap.min(self.base + self.random_part(most.saturating_sub(self.base)))
    }
}

// Rule B13.
#[tokio::test(start_paused = true)]
async fn decorrelated_jitter_draws_each_delay_from_a_range_of_the_previous_one() {
    let (base, cap) = (millis(100), secs(20));
    let strategy = StandardRetryStrategy::new().max_attempts(40).quota_capacity(u32::MAX);
    let strategy = strategy.with_backoff(Decorrelated { base, cap });
    let (mut latest, mut delays) = (Instant::now(), Vec::new());
    let attempt = || {
        delays.push(latest.elapsed());
        latest = Instant::now();
        ready(Err::<(), _>(Failed::SAFE))
    };
    assert!(retry(&strategy, attempt).run().await.is_err());
    assert_eq!(delays.len(), 40);
    for pair in delays.windows(2) {
        // Tokio's sleeps end up to a millisecond late.
        let most = cap.min(3 * pair[0].max(base)) + millis(4);
        assert!((base..=most).contains(&pair[1]), "{delays:?}");
    }
    assert!(delays.iter().any(|delay| *delay > 3 * base + millis(4)), "the delays grow: {delays:?}");
}
