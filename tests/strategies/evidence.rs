//! The quota by evidence, seen from an operation.

use crate::support::{ByHand, Failed};
use retry_core::RetryErrorType::Other;
use retry_core::backoff::Jitter;
use retry_core::quota::{EvidenceQuota, QuotaMode};
use retry_core::{EvidenceRetryStrategy, Failure, RetryQuota, RetryStrategy, RetryToken};
use std::time::Duration;

// Rule Q12.
#[test]
fn the_only_operation_of_a_process_makes_three_attempts_however_long_it_waits() {
    for factor in [0.0, 0.5, 1.0] {
        let strategy = EvidenceRetryStrategy::standard().jitter(Jitter::Fixed(factor));
        let clock = ByHand::at(Duration::from_secs(100));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        for retry in 1..=2 {
            let refreshed = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock);
            token = refreshed.unwrap_or_else(|end| panic!("retry {retry} with the factor {factor}: {end:?}"));
            clock.advance(token.delay());
        }
    }
}

/// Returns a quota that has seen a success, and its clock.
fn proven() -> (EvidenceQuota, ByHand) {
    let quota = EvidenceQuota::new();
    quota.first_succeeded(0);
    (quota, ByHand::at(Duration::from_secs(100)))
}

// Rules Q12, Q19.
#[test]
fn a_quota_that_has_forgotten_the_failures_begins_again_with_two_retries() {
    let (quota, clock) = proven();
    let paid = |quota: &EvidenceQuota| quota.pay(14, Other, &clock).is_some();
    // Many failures in no time are much traffic, and the quota is exhausted all the same.
    while paid(&quota) {}
    assert_eq!(quota.mode(), Some(QuotaMode::Exhausted));
    while !quota.is_full() {
        quota.retry_succeeded(1, 0);
    }
    clock.advance(Duration::from_secs(100));
    assert!(paid(&quota));
    assert_eq!((quota.mode(), quota.available()), (Some(QuotaMode::Spending), 1));
    assert!(paid(&quota));
    assert_eq!((quota.mode(), quota.available()), (Some(QuotaMode::Spending), 0));
}

// Rule Q19.
#[test]
fn a_quota_that_can_pay_for_exactly_one_more_retry_is_not_exhausted() {
    let (quota, clock) = proven();
    let pay = || {
        clock.advance(Duration::from_secs(20));
        quota.pay(14, Other, &clock)
    };
    let first = pay().expect("it is paid");
    assert!(pay().is_some());
    assert_eq!((pay(), quota.mode()), (None, Some(QuotaMode::Exhausted)));
    quota.give_back(first);
    assert_eq!((quota.available(), quota.mode()), (1, Some(QuotaMode::Spending)));
}
