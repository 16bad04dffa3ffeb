//! Refunds of operations within attempts of other operations, if they share a quota.

use ::tower::{Layer, ServiceExt, service_fn};
use retry_core::strategy::Refund;
use retry_core::{
    ExponentialBackoff, Failure, RetryInfo, RetryQuota, RetryStrategy, StandardRetryStrategy, TokenBucket, TokioTimer,
    retry, retry_blocking, retryable,
};
use retry_tower::RetryLayer;
use std::future::ready;

use crate::support::{Failed, by_evidence, millis};

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
#[retry(safe)]
struct Never;

static SHARED: StandardRetryStrategy = StandardRetryStrategy::new();

/// Spends 100 of the quota, and returns what this call gives back.
async fn refund_of(call: impl Future<Output = Result<(), Never>>) -> u32 {
    let quota = SHARED.quota();
    assert!(quota.try_acquire(100, &TokioTimer));
    let before = quota.available();
    call.await.unwrap();
    let after = quota.available();
    quota.refund(100);
    after - before
}

#[retryable(strategy = SHARED)]
async fn one_level() -> Result<(), Never> {
    Ok(())
}

#[retryable(strategy = SHARED)]
async fn two_levels() -> Result<(), Never> {
    one_level().await
}

#[retryable(strategy = SHARED)]
async fn three_levels() -> Result<(), Never> {
    two_levels().await
}

// Rule Q21.
#[tokio::test]
async fn a_request_through_several_levels_with_one_quota_gives_back_once_for_each_level() {
    assert_eq!(refund_of(one_level()).await, 1);
    assert_eq!(refund_of(two_levels()).await, 2);
    assert_eq!(refund_of(three_levels()).await, 3);
    assert_eq!(refund_of(retry(&SHARED, one_level).run()).await, 2);
    let blocking = || retry_blocking(&SHARED, || Ok(())).run();
    assert_eq!(refund_of(async { retry_blocking(&SHARED, blocking).run() }).await, 2);
    let layer = RetryLayer::with_handle(&SHARED);
    assert_eq!(refund_of(layer.layer(service_fn(|()| one_level())).oneshot(())).await, 2);
}

static QUOTA: TokenBucket = TokenBucket::new(500);
type OverQuota = StandardRetryStrategy<ExponentialBackoff, &'static TokenBucket>;
static INNER: OverQuota = StandardRetryStrategy::new().with_quota(&QUOTA);
static OUTER: OverQuota = StandardRetryStrategy::new().refunds(0, Refund::Amount(0)).with_quota(&QUOTA);

// Rules Q6, Q21.
#[tokio::test]
async fn an_outer_level_with_refunds_of_zero_leaves_one_refund() {
    assert!(QUOTA.try_acquire(100, &TokioTimer));
    retry(&OUTER, || retry(&INNER, || ready(Ok::<_, Never>(()))).run()).run().await.unwrap();
    assert_eq!(QUOTA.available(), 401);
}

/// Fails once a second, with ten successes between two failures. Returns the number of retries that the quota could pay for then.
async fn traffic(levels: u32) -> Option<u32> {
    let strategy = by_evidence();
    for _ in 0..4 {
        for _ in 0..10 {
            tokio::time::sleep(millis(100)).await;
            match levels {
                1 => retry(&strategy, || ready(Ok::<_, Failed>(()))).run().await.unwrap(),
                _ => retry(&strategy, || retry(&strategy, || ready(Ok::<_, Failed>(()))).run()).run().await.unwrap(),
            }
        }
        let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
        drop(strategy.refresh_retry_token(token, &Failure::of(&Failed::TIMEOUT), &TokioTimer));
    }
    strategy.quota_level()
}

// Rules Q12, Q21.
#[tokio::test(start_paused = true)]
async fn a_quota_by_evidence_measures_a_request_through_two_levels_as_two_attempts() {
    assert_eq!((traffic(1).await, traffic(2).await), (Some(14), Some(28)));
}
