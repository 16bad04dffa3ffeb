//! The number of retries for which the quota by evidence of a new process pays, as docs/choosing.md says.

use crate::support::{ByEvidence, Failed, by_evidence, millis, secs};
use retry_core::{Clock, Failure, RetryStrategy, RetryToken, TokioTimer, retry};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use tokio::task::JoinSet;

/// Returns the number of attempts of each of these calls, which begin at the same time and are always throttled.
async fn attempts(calls: usize, strategy: ByEvidence) -> Vec<u32> {
    let (strategy, mut running) = (Arc::new(strategy), JoinSet::new());
    for _ in 0..calls {
        let strategy = Arc::clone(&strategy);
        running.spawn(async move {
            let attempts = AtomicU32::new(0);
            let attempt = || {
                attempts.fetch_add(1, Ordering::Relaxed);
                std::future::ready(Err::<(), _>(Failed::THROTTLED))
            };
            retry(&strategy, attempt).run().await.unwrap_err();
            attempts.into_inner()
        });
    }
    running.join_all().await
}

async fn lone(strategy: impl Fn(u64) -> ByEvidence) -> [usize; 6] {
    let mut calls = [0; 6];
    for seed in 0..1000 {
        calls[attempts(1, strategy(seed)).await[0] as usize] += 1;
    }
    calls
}

const fn seeded(seed: u64) -> ByEvidence {
    by_evidence().seed(seed)
}

// Rule Q12.
#[tokio::test(start_paused = true)]
async fn a_lone_call_makes_three_attempts_and_more_if_they_follow_each_other_quickly() {
    let [_, _, _, three, four, five] = lone(seeded).await;
    assert_eq!(three + four + five, 1000, "never fewer");
    assert!((780..860).contains(&three), "{three} of 1000 make three, {four} four and {five} five");
    let quick = lone(|seed| seeded(seed).backoff(millis(100), secs(20))).await;
    assert_eq!(quick, [0, 0, 0, 0, 0, 1000]);
}

// Rule Q12.
#[tokio::test(start_paused = true)]
async fn calls_that_fail_together_are_measured_over_milliseconds() {
    for (calls, least, most) in [(50, 105, 125), (300, 680, 720)] {
        for seed in 0..5 {
            let retries: u32 = attempts(calls, seeded(seed)).await.iter().map(|attempts| attempts - 1).sum();
            assert!((least..most).contains(&retries), "{retries} retries of {calls} calls");
        }
    }
}

// Rule Q12.
#[tokio::test(start_paused = true)]
async fn failures_at_one_instant_pay_for_three_and_a_quarter_retries_each() {
    let strategy = by_evidence().max_attempts(100);
    let clock: &dyn Clock = &TokioTimer;
    let failure = Failure::of(&Failed::SAFE);
    let tokens: Vec<_> = (0..100).map(|_| strategy.acquire_initial_token(clock).unwrap()).collect();
    let first: Vec<_> = tokens.into_iter().map(|token| strategy.refresh_retry_token(token, &failure, clock)).collect();
    assert!(first.iter().all(Result::is_ok));
    // 100 attempts, of which the first one is half an attempt, in half a second.
    assert_eq!(strategy.quota_level(), Some(323 - 100));
    assert_eq!(first[0].as_ref().unwrap().attempt(), 2);
}
