//! The quota by evidence, seen from an operation.

use crate::support::{ByHand, Failed};
use retry_core::RetryErrorType::Other;
use retry_core::backoff::Jitter;
use retry_core::quota::{EvidenceQuota, NoQuota, QuotaKnowledge, QuotaMode};
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

// Rules Q12, Q19.
#[test]
fn a_hedge_that_was_not_sent_gives_back_what_it_cost() {
    let (quota, clock) = proven();
    let hedge = quota.pay_hedge(5, &clock).expect("it is paid");
    assert_eq!((quota.available(), quota.pay_hedge(5, &clock)), (1, None), "no other one");
    assert!(quota.pay(14, Other, &clock).is_some());
    quota.give_back(hedge);
    assert_eq!(quota.available(), 1, "the retry is not given back");
}

// Rules Q19, Q20.
#[test]
fn a_quota_with_peers_that_has_paid_for_a_hedge_alone_is_not_exhausted() {
    let (quota, clock) = proven();
    quota.set_peers(QuotaKnowledge::new(10.0, 100.0, None), &clock);
    assert!(quota.pay_hedge(5, &clock).is_some());
    assert_eq!(quota.mode(), Some(QuotaMode::Spending));
}

// Rule Q16.
#[test]
fn after_500_years_the_time_stands_still_for_a_quota() {
    let quota = EvidenceQuota::new();
    quota.first_succeeded(0);
    let clock = ByHand::at(Duration::from_secs(1 << 34));
    for _ in 0..10 {
        clock.advance(Duration::from_secs(20));
        assert!(quota.pay(14, Other, &clock).is_some(), "so many failures at one time are much traffic");
    }
}

// Rule Q12.
#[test]
fn a_retry_without_a_known_class_costs_one_and_a_free_one_nothing() {
    let (quota, clock) = proven();
    assert_eq!((quota.pay(0, Other, &clock), quota.is_full()), (Some(0), true));
    assert!(quota.try_acquire(14, &clock) && quota.try_acquire(14, &clock));
    clock.advance(Duration::from_secs(100));
    assert!(!quota.try_acquire(14, &clock));
    quota.refund(1);
    assert_eq!(quota.available(), 1);
}

#[test]
fn no_quota_is_always_full() {
    assert_eq!((NoQuota.available(), NoQuota.is_full()), (u32::MAX, true));
}

// Rule Q20.
#[test]
fn of_two_timeouts_the_later_one_counts_and_amounts_fade_by_half_in_five_seconds() {
    let of = |seconds| QuotaKnowledge::new(64.0, 128.0, Some(Duration::from_secs(seconds)));
    assert_eq!(of(5).merge(of(1)).timeout_age(), Some(Duration::from_secs(1)));
    let half_way = of(1).aged(Duration::from_millis(2_500));
    assert_eq!((half_way.missing(), half_way.capacity()), (48.0, 96.0));
    // The largest amount, which is gone after 50 times five seconds.
    let most = QuotaKnowledge::new(f64::MAX, f64::MAX, None);
    assert_eq!((most.missing(), most.capacity()), (17_179_869_184.0, 17_179_869_184.0));
    assert_eq!(most.aged(Duration::from_secs(250)), QuotaKnowledge::default());
}

// Rule Q19.
#[test]
fn knowledge_that_pays_for_exactly_one_more_retry_is_not_exhausted() {
    assert_eq!(QuotaKnowledge::new(9.0, 10.0, None).mode(), QuotaMode::Spending);
    assert_eq!(QuotaKnowledge::new(9.1, 10.0, None).mode(), QuotaMode::Exhausted);
}

/// Lets a retry of a quota with peers succeed. It gives back one more than it cost.
fn retry(quota: &EvidenceQuota, clock: &ByHand) {
    let paid = quota.pay(14, Other, clock).expect("it is paid");
    quota.retry_succeeded(paid, 0);
}

// Rule Q20.
#[test]
fn what_a_quota_gave_back_beyond_what_was_missing_is_in_its_report() {
    let peers = QuotaKnowledge::new(10.0, 100.0, None);
    let missing = |quota: &EvidenceQuota, clock: &ByHand| quota.knowledge(clock).missing().to_string();
    let (quota, clock) = proven();
    retry(&quota, &clock);
    assert_eq!(missing(&quota, &clock), "0", "without peers it is forgotten");
    quota.set_peers(peers, &clock);
    assert_eq!(missing(&quota, &clock), "0");
    retry(&quota, &clock);
    assert_eq!(missing(&quota, &clock), "-1");
    retry(&quota, &clock);
    assert_eq!(missing(&quota, &clock), "-2");
    // The peers lack more than it gave back, so it is kept with their next report.
    quota.set_peers(peers, &clock);
    assert_eq!(missing(&quota, &clock), "-2");
    // It is dropped when there was no report for ten seconds.
    clock.advance(Duration::from_millis(9_999));
    assert_eq!(missing(&quota, &clock), "-2");
    clock.advance(Duration::from_millis(1));
    assert_eq!(missing(&quota, &clock), "0");
}

// Rule Q20.
#[test]
fn of_a_surplus_of_all_quotas_each_forgets_a_part_by_its_traffic() {
    // What the peers lack, their traffic as a multiple of the quota's own, and what the quota then reports.
    for (lacks, times, reported) in
        [(0.0, 1.0, "-2"), (0.0, 3.0, "-3"), (2.0, 1.0, "-3"), (-4.0, 3.0, "-2"), (8.0, 1.0, "-4")]
    {
        let (quota, clock) = proven();
        quota.set_peers(QuotaKnowledge::new(10.0, 100.0, None), &clock);
        (0..4).for_each(|_| retry(&quota, &clock));
        let known = quota.knowledge(&clock);
        assert_eq!(known.missing().to_string(), "-4");
        assert!(known.capacity() > 0.0);
        quota.set_peers(QuotaKnowledge::new(lacks, times * known.capacity(), None), &clock);
        assert_eq!(quota.knowledge(&clock).missing().to_string(), reported, "{lacks} and {times}");
    }
}

// Rule Q20.
#[test]
fn what_a_quota_gave_back_pays_for_retries_while_its_peers_lack_more_than_they_have() {
    let (quota, clock) = proven();
    quota.set_peers(QuotaKnowledge::new(10.0, 100.0, None), &clock);
    let exhausted = QuotaKnowledge::new(110.0, 100.0, None);
    (0..20).for_each(|_| retry(&quota, &clock));
    clock.advance(Duration::from_secs(9));
    quota.set_peers(exhausted, &clock);
    assert!(quota.pay(14, Other, &clock).is_some());
    let (other, clock) = proven();
    other.set_peers(exhausted, &clock);
    assert_eq!(other.pay(14, Other, &clock), None);
}

// Rule Q20.
#[test]
fn a_surplus_without_any_traffic_is_no_part_of_anything() {
    let (quota, clock) = proven();
    quota.set_peers(QuotaKnowledge::new(10.0, 100.0, None), &clock);
    retry(&quota, &clock);
    while !quota.is_full() {
        quota.first_succeeded(0);
    }
    quota.set_peers(QuotaKnowledge::default(), &clock);
    assert_eq!(quota.knowledge(&clock), QuotaKnowledge::default());
}
