//! The numbers of the standard strategy.

use crate::support::{Failed, Flaky, secs};
use retry_core::{
    BackoffStrategy, Clock, ExponentialBackoff, Failure, ForeignToken, Jitter, Ready, RetryError, RetryErrorType,
    RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, TokenBucket, TokioTimer, retry,
};
use std::time::Duration;

const CLOCK: &dyn Clock = &TokioTimer;

const fn longest() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// The delay before the first retry after this error, or why there is none.
fn first_delay(strategy: &StandardRetryStrategy, error: Failed) -> Result<Duration, RetryError> {
    let token = strategy.acquire_initial_token(CLOCK)?;
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&error), CLOCK)?;
    let delay = token.delay();
    assert_eq!(strategy.ready(&mut token, CLOCK), Ready::After(delay));
    assert_eq!(strategy.ready(&mut token, CLOCK), Ready::Now, "the backoff is slept once");
    assert_eq!(token.delay(), delay, "for information, it stays");
    Ok(delay)
}

#[test]
fn a_hint_is_a_floor() {
    static STRATEGY: StandardRetryStrategy = longest();
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(Duration::ZERO)), Ok(secs(1)));
    assert_eq!(
        first_delay(&STRATEGY, Failed::SAFE.after(Duration::from_nanos(1_000_000_001))),
        Ok(Duration::new(1, 1))
    );
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(secs(90))), Ok(secs(90)), "above the cap as well");
}

#[test]
fn a_hint_above_the_limit_ends_the_operation() {
    static STRATEGY: StandardRetryStrategy = longest();
    static PATIENT: StandardRetryStrategy = longest().max_retry_after(None);
    static BUSY: StandardRetryStrategy = longest().max_retry_after(Some(secs(2)));
    let five_minutes = secs(300);
    let more = five_minutes + Duration::from_nanos(1);
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(five_minutes)), Ok(five_minutes));
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(more)), Err(RetryError::RetryAfterTooLong));
    assert_eq!(first_delay(&STRATEGY, Failed::SAFE.after(Duration::MAX)), Err(RetryError::RetryAfterTooLong));
    assert_eq!(first_delay(&PATIENT, Failed::SAFE.after(more)), Ok(more));
    assert_eq!(first_delay(&BUSY, Failed::SAFE.after(secs(3))), Err(RetryError::RetryAfterTooLong));
}

#[test]
fn the_longest_hint_overflows_nothing() {
    static PATIENT: StandardRetryStrategy = longest().max_retry_after(None);
    let delay = first_delay(&PATIENT, Failed::SAFE.after(Duration::MAX)).unwrap();
    assert_eq!(delay, Duration::from_nanos(u64::MAX), "a token keeps delays of up to 584 years");
}

#[test]
fn the_former_aws_mode_cuts_a_hint_to_the_cap() {
    static AWS: StandardRetryStrategy = StandardRetryStrategy::aws_2_0().jitter(Jitter::Fixed(1.0));
    static SHORT: StandardRetryStrategy =
        StandardRetryStrategy::aws_2_0().jitter(Jitter::Fixed(1.0)).backoff(secs(1), secs(4));
    assert_eq!(first_delay(&AWS, Failed::SAFE.after(secs(7))), Ok(secs(7)));
    assert_eq!(first_delay(&AWS, Failed::SAFE.after(Duration::MAX)), Ok(secs(20)));
    assert_eq!(first_delay(&SHORT, Failed::SAFE.after(secs(7))), Ok(secs(4)));
}

#[test]
fn a_retry_costs_by_the_class_of_the_failure() {
    let strategy = longest();
    let cost = |error: Failed| {
        let before = strategy.quota().available();
        first_delay(&strategy, error).unwrap();
        before - strategy.quota().available()
    };
    assert_eq!([cost(Failed::THROTTLED), cost(Failed::TIMEOUT), cost(Failed::SAFE)], [5, 10, 5]);
    let both = Failed { timeout: true, ..Failed::THROTTLED };
    assert_eq!(cost(both), 5, "throttling comes before timeout");
}

#[tokio::test(start_paused = true)]
async fn a_success_refunds_by_the_preset() {
    let refund = |strategy: StandardRetryStrategy, failures| async move {
        assert!(strategy.quota().try_acquire(100, CLOCK));
        let flaky = Flaky::new(failures, Failed::TIMEOUT);
        retry(&strategy, || async { flaky.call() }).await.unwrap();
        strategy.quota().available() - (400 - 10 * failures)
    };
    assert_eq!(refund(StandardRetryStrategy::new(), 0).await, 1);
    assert_eq!(refund(StandardRetryStrategy::new(), 2).await, 1);
    assert_eq!(refund(StandardRetryStrategy::aws_2_0(), 0).await, 1);
    assert_eq!(refund(StandardRetryStrategy::aws_2_0(), 2).await, 10, "what the last retry cost");
}

#[tokio::test(start_paused = true)]
async fn the_presets_differ_in_their_attempts() {
    let attempts = |strategy: StandardRetryStrategy| async move {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        retry(&strategy, || async { flaky.call() }).await.unwrap_err();
        flaky.calls()
    };
    assert_eq!(
        [attempts(StandardRetryStrategy::new()).await, attempts(StandardRetryStrategy::default()).await],
        [5, 5]
    );
    assert_eq!(attempts(StandardRetryStrategy::aws_2_0()).await, 3);
}

#[test]
fn full_jitter_stays_below_the_delay_and_never_repeats_itself() {
    let delays = |strategy: &StandardRetryStrategy| -> Vec<Duration> {
        (0..50).map(|_| first_delay(strategy, Failed::SAFE).unwrap()).collect()
    };
    let strategy = StandardRetryStrategy::new();
    let drawn = delays(&strategy);
    assert!(drawn.iter().all(|delay| *delay < secs(1)));
    assert!(drawn.iter().any(|delay| *delay < Duration::from_millis(500)));
    assert!(drawn.iter().any(|delay| *delay >= Duration::from_millis(500)));
    let mut distinct = drawn.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 50);
    assert_ne!(delays(&StandardRetryStrategy::new()), drawn, "each strategy draws its own");

    assert_eq!(delays(&StandardRetryStrategy::new().seed(7)), delays(&StandardRetryStrategy::new().seed(7)));
    assert_ne!(delays(&StandardRetryStrategy::new().seed(7)), delays(&StandardRetryStrategy::new().seed(8)));
}

#[test]
fn jitter_is_applied_after_the_cap() {
    let backoff = ExponentialBackoff::new(secs(16), secs(20)).jitter(Jitter::Fixed(0.5));
    assert_eq!(backoff.compute_next_backoff_delay(9, RetryErrorType::Other), secs(10));
    let backoff = backoff.jitter(Jitter::None);
    assert_eq!(backoff.compute_next_backoff_delay(9, RetryErrorType::Other), secs(20));
}

#[test]
fn nothing_overflows() {
    let delay = |backoff: ExponentialBackoff, index| {
        backoff.jitter(Jitter::None).compute_next_backoff_delay(index, RetryErrorType::Other)
    };
    assert_eq!(delay(ExponentialBackoff::new(secs(1), Duration::MAX), u32::MAX), Duration::MAX);
    assert_eq!(delay(ExponentialBackoff::new(Duration::MAX, Duration::MAX), 1), Duration::MAX);
    assert_eq!(delay(ExponentialBackoff::new(Duration::ZERO, secs(20)), u32::MAX), Duration::ZERO);
    assert_eq!(
        delay(ExponentialBackoff::new(Duration::from_nanos(1), Duration::MAX), 40),
        Duration::from_nanos(1 << 40)
    );
    let backoff = ExponentialBackoff::new(Duration::MAX, Duration::MAX);
    assert!(backoff.compute_next_backoff_delay(0, RetryErrorType::Other) <= Duration::MAX);

    // As many attempts as can be counted: only the quota ends them.
    let strategy = longest().max_attempts(u32::MAX).backoff(Duration::ZERO, Duration::ZERO);
    let mut token = strategy.acquire_initial_token(CLOCK).unwrap();
    let reason = loop {
        match strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK) {
            Ok(next) => token = next,
            Err(reason) => break reason,
        }
    };
    assert_eq!(reason, RetryError::QuotaExhausted);
}

#[test]
fn a_token_tells_its_attempt() {
    let strategy = longest();
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    assert_eq!((token.attempt(), token.retry_count(), token.delay()), (1, 0, Duration::ZERO));
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap();
    assert_eq!((token.attempt(), token.retry_count(), token.delay()), (2, 1, secs(1)));
}

#[test]
fn a_foreign_token_is_refused_and_the_quota_left_alone() {
    let (ours, theirs) = (longest(), longest());
    assert!(ours.quota().try_acquire(100, CLOCK));
    let foreign = || {
        let token = theirs.acquire_initial_token(CLOCK).unwrap();
        theirs.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
    };
    let refused = ours.refresh_retry_token(foreign(), &Failure::of(&Failed::SAFE), CLOCK);
    assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
    assert_eq!(ours.record_success(foreign(), CLOCK), Err(ForeignToken));
    assert_eq!(RetryError::from(ForeignToken), RetryError::ForeignToken);
    assert_eq!(ours.ready(&mut foreign(), CLOCK), Ready::Now);
    ours.release(foreign());
    assert_eq!(ours.quota().available(), 400);
}

#[test]
fn a_strategy_that_moved_is_another_one() {
    let here = longest();
    let token = here.acquire_initial_token(CLOCK).unwrap();
    let there = Box::new(here);
    assert_eq!(there.record_success(token, CLOCK), Err(ForeignToken));
}

#[test]
fn strategies_may_share_a_quota_and_bring_their_own_backoff() {
    struct Steady;
    impl BackoffStrategy for Steady {
        fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
            assert_eq!((retry_attempt, error_type), (0, RetryErrorType::Throttling));
            secs(3)
        }
    }

    static QUOTA: TokenBucket = TokenBucket::new(10);
    static ONE: StandardRetryStrategy<Steady, &TokenBucket> = StandardRetryStrategy::with_parts(Steady, &QUOTA);
    static OTHER: StandardRetryStrategy<Steady, &TokenBucket> = StandardRetryStrategy::with_parts(Steady, &QUOTA);
    for (strategy, left) in [(&ONE, 5), (&OTHER, 0)] {
        let token = strategy.acquire_initial_token(CLOCK).unwrap();
        let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), CLOCK).unwrap();
        assert_eq!((token.delay(), QUOTA.available()), (secs(3), left));
    }
    assert_eq!(QUOTA.capacity(), 10);
}

#[test]
fn a_wrong_jitter_factor_is_refused() {
    for factor in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let built = std::panic::catch_unwind(|| StandardRetryStrategy::new().jitter(Jitter::Fixed(factor)));
        assert!(built.is_err(), "{factor}");
    }
}

#[test]
fn many_threads_lose_nothing_of_the_quota() {
    static BUCKET: TokenBucket = TokenBucket::new(40);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..20_000 {
                    if BUCKET.try_acquire(7, CLOCK) {
                        assert!(BUCKET.available() <= 33);
                        BUCKET.refund(7);
                    }
                    assert!(BUCKET.available() <= 40);
                }
            });
        }
    });
    assert_eq!(BUCKET.available(), 40);
}
