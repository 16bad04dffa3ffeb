//! Operations without a limit on their attempts, and what the attempts of waiting operations cost.

use crate::support::{Failed, millis, secs};
use retry_core::{
    Jitter, PatientRetryStrategy, RetryError, RetryQuota, RetryStrategy, StandardRetryStrategy, retry, retryable,
};
use std::cell::Cell;
use tokio::time::{Instant, sleep};

const HOUR: u64 = 3_600;

/// A service that is down for an hour, and counts its requests.
struct Service {
    since: Instant,
    requests: Cell<u32>,
}

impl Service {
    fn new() -> Self {
        Self { since: Instant::now(), requests: Cell::new(0) }
    }

    async fn answer(&self) -> Result<u32, Failed> {
        self.requests.set(self.requests.get() + 1);
        sleep(millis(10)).await;
        if self.since.elapsed() < secs(HOUR) { Err(Failed::SAFE) } else { Ok(1) }
    }

    /// Asserts that the call that just succeeded came soon after the outage, with few requests.
    fn assert_outlasted(&self) {
        let (took, requests) = (self.since.elapsed(), self.requests.get());
        assert!(took <= secs(HOUR + 30), "back after {took:?}");
        assert!((100..=400).contains(&requests), "{requests} requests");
    }
}

// Rules R23, U4.
#[tokio::test(start_paused = true)]
async fn a_call_with_unlimited_attempts_outlasts_an_hour_with_few_attempts() {
    for seed in 0..5 {
        let strategy = PatientRetryStrategy::new().seed(seed);
        let service = Service::new();
        let outcome = retry(&strategy, || service.answer()).unlimited_attempts().run().await;
        assert_eq!(outcome, Ok(1));
        service.assert_outlasted();
        assert_eq!(strategy.waiting_operations(), Some(0));
    }
}

// Rules R23, U4.
#[tokio::test(start_paused = true)]
async fn a_function_of_a_warm_process_with_unlimited_attempts_outlasts_an_hour() {
    #[retryable(strategy = strategy, unlimited_attempts)]
    async fn call(strategy: &PatientRetryStrategy, service: &Service) -> Result<u32, Failed> {
        service.answer().await
    }

    let strategy = PatientRetryStrategy::new().seed(7);
    for _ in 0..50 {
        retry(&strategy, async || Ok::<u32, Failed>(1)).run().await.unwrap();
        sleep(millis(100)).await;
    }
    let service = Service::new();
    assert_eq!(call(&strategy, &service).await, Ok(1));
    service.assert_outlasted();
}

// Rule R23.
#[tokio::test(start_paused = true)]
async fn with_a_strategy_whose_refused_retries_do_not_wait_the_quota_is_the_limit() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(100);
    let report = retry(&strategy, async || Err::<u32, _>(Failed::SAFE)).unlimited_attempts().report().await;
    assert_eq!((report.attempts, report.reason), (21, Some(RetryError::QuotaExhausted)), "20 retries at a cost of 5");
}

// Rule R23.
#[tokio::test(start_paused = true)]
async fn a_final_failure_ends_a_call_with_unlimited_attempts() {
    let strategy = PatientRetryStrategy::new();
    let report = retry(&strategy, async || Err::<u32, _>(Failed::FATAL)).unlimited_attempts().report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
}

// Rule U15.
#[tokio::test(start_paused = true)]
async fn attempts_from_the_line_count_and_cost_nothing() {
    let standard = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).quota_capacity(5);
    let strategy = PatientRetryStrategy::over(standard.max_attempts(4));
    let available = || strategy.quota().available();
    let calls = Cell::new(0);
    let report = retry(&strategy, async || {
        calls.set(calls.get() + 1);
        sleep(millis(10)).await;
        if calls.get() < 3 { Err(Failed::SAFE) } else { Ok(1) }
    })
    .report()
    .await;
    assert_eq!((report.outcome, report.attempts), (Ok(1), 3), "one retry is paid for, and one is a probe");
    assert_eq!(available(), 1, "a probe pays nothing, and its success gives back what a first success does");

    let report = retry(&strategy, async || Err::<u32, _>(Failed::SAFE)).report().await;
    assert_eq!(report.reason, Some(RetryError::NoRecovery));
    assert!(report.attempts < 4, "the last attempt is not a probe: {}", report.attempts);
    assert_eq!(available(), 1);
}
