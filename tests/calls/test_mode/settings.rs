//! The settings of a guard reach every strategy and quota.

use crate::support::{Failed, Flaky, Recorder, millis};
use retry_config::{RetryConfig, RetryMode};
use retry_core::quota::EvidenceQuota;
use retry_core::test::{TestGuard, begin};
use retry_core::{
    AdaptiveRetryStrategy, ErasedStrategy, ExponentialBackoff, PatientRetryStrategy, RetryError, RetryQuota,
    RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, TokioTimer, retry, retryable,
};
use retry_limits::{ConcurrencyRetryStrategy, PacedRetryStrategy};
use std::sync::Arc;

type ByEvidence = StandardRetryStrategy<ExponentialBackoff, EvidenceQuota>;

const fn by_evidence() -> ByEvidence {
    StandardRetryStrategy::new().with_quota(EvidenceQuota::new())
}

/// Calls a service that fails always in this way, and returns the number of attempts and the reason to stop.
async fn attempts(strategy: &impl RetryStrategy, failure: Failed) -> (u32, Option<RetryError>) {
    let service = Flaky::new(u32::MAX, failure);
    let report = retry(strategy, async || service.call()).report().await;
    (report.attempts, report.reason)
}

// Rule G4.
#[tokio::test(start_paused = true)]
async fn the_maximum_holds_for_every_strategy() {
    async fn check(name: &str, strategy: &impl RetryStrategy) {
        for max in [1, 2] {
            let test = begin().max_attempts(max);
            assert_eq!(attempts(strategy, Failed::SAFE).await, (max, Some(RetryError::MaxAttempts)), "{name}");
            test.only().assert_ended(max, Some(RetryError::MaxAttempts));
        }
    }

    check("standard", &StandardRetryStrategy::new()).await;
    check("adaptive", &AdaptiveRetryStrategy::new()).await;
    check("paced", &PacedRetryStrategy::new()).await;
    check("concurrency", &ConcurrencyRetryStrategy::new()).await;
    check("patient", &PatientRetryStrategy::new()).await;
    check("evidence", &by_evidence()).await;
    check("erased", &ErasedStrategy::new(PatientRetryStrategy::new())).await;
    check("pointer", &Arc::new(PatientRetryStrategy::new())).await;
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        check("configured", &RetryConfig::new().mode(mode).build_on(StandardRetryStrategy::new()).unwrap()).await;
    }
    let scopes: ScopedRetryStrategy<u32, PatientRetryStrategy> = ScopedRetryStrategy::new(PatientRetryStrategy::new);
    check("scoped", &scopes.scope(&1)).await;
    check("user's own", &Recorder::new()).await;
}

// Rules G4, R6.
#[tokio::test]
async fn a_retry_that_a_strategy_grants_beyond_the_maximum_is_released() {
    let strategy = Recorder::new();
    let _test = begin().max_attempts(2);
    attempts(&strategy, Failed::SAFE).await;
    assert_eq!(strategy.calls().last(), Some(&"release"), "{:?}", strategy.calls());
}

// Rule G4.
#[tokio::test]
async fn a_maximum_of_a_guard_changes_no_other_reason() {
    let _test = begin().max_attempts(1);
    assert_eq!(attempts(&Recorder::new(), Failed::FATAL).await, (1, Some(RetryError::NotRetryable)));
    let _test = begin().max_attempts(2);
    let refusing = Recorder::new().refusing_retries(RetryError::QuotaExhausted);
    assert_eq!(attempts(&refusing, Failed::SAFE).await, (1, Some(RetryError::QuotaExhausted)));
}

// Rule G4.
#[tokio::test(start_paused = true)]
async fn the_capacity_is_that_of_a_quota_by_evidence_too() {
    let strategy = by_evidence();
    for (capacity, expected) in [(0, 1), (5, 2), (9, 2), (10, 3)] {
        let _test = begin().quota(capacity);
        let ended = attempts(&strategy, Failed::SAFE).await;
        assert_eq!(ended, (expected, Some(RetryError::QuotaExhausted)), "{capacity}");
        assert_eq!((strategy.quota().mode(), strategy.quota().is_full()), (None, capacity == 0));
        assert_eq!(strategy.quota().full_level(), Some(capacity));
    }
    // A success after a retry gives back what the settings say, as to a bucket.
    let _test = begin().quota(10);
    assert_eq!(strategy.quota().available(), 10);
    let service = Flaky::new(1, Failed::SAFE);
    retry(&strategy, async || service.call()).run().await.unwrap();
    assert_eq!(strategy.quota().available(), 10 - 5 + 1);
    assert!(strategy.quota().try_acquire(4, &TokioTimer) && !strategy.quota().try_acquire(3, &TokioTimer));
    assert_eq!(strategy.quota().available(), 10 - 5 + 1 - 4);
}

// Rule G4.
#[tokio::test(start_paused = true)]
async fn a_patient_strategy_without_a_quota_waits_before_its_first_retry() {
    static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

    #[retryable(strategy = STORE)]
    async fn get() -> Result<u32, Failed> {
        Err(Failed::SAFE)
    }

    let first_wait = |test: &TestGuard| test.skipped()[0];
    let plenty = begin().quota(500);
    get().await.unwrap_err();
    let backoff = first_wait(&plenty);
    drop(plenty);
    let none = begin().quota(0);
    get().await.unwrap_err();
    assert!(first_wait(&none) > backoff.max(millis(500)), "{:?}", none.skipped());
    none.only().assert_ended(none.only().attempts, Some(RetryError::NoRecovery));
}

// Rule G4.
#[tokio::test(start_paused = true)]
async fn a_warm_quota_retries_a_timeout_that_a_new_one_does_not() {
    let strategy = by_evidence();
    {
        let _new = begin();
        assert_eq!(attempts(&strategy, Failed::TIMEOUT).await, (1, Some(RetryError::QuotaExhausted)));
    }
    let _warm = begin().warm();
    assert!(strategy.quota().is_full(), "as after a success");
    assert!(attempts(&strategy, Failed::TIMEOUT).await.0 > 1);
}
