//! The quota by evidence, seen from an operation.

use crate::support::{ByHand, Failed, by_evidence};
use retry_core::RetryErrorType::Other;
use retry_core::backoff::Jitter;
use retry_core::quota::{EvidenceQuota, NoQuota, QuotaKnowledge, QuotaMode};
use retry_core::{Failure, RetryQuota, RetryStrategy, RetryToken};
use std::time::Duration;

// Rule Q12.
#[test]
fn the_only_operation_of_a_process_makes_three_attempts_however_long_it_waits() {
    for factor in [0.0, 0.5, 1.0] {
        let strategy = by_evidence().jitter(Jitter::Fixed(factor));
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

/// Lets failures whose retries succeed follow each other in no time. Each of these retries gives back one more than it cost.
fn fail_and_recover(quota: &EvidenceQuota, clock: &ByHand, times: u32) {
    for _ in 0..times {
        let paid = quota.pay(14, Other, clock).expect("it is paid");
        quota.retry_succeeded(paid, 0);
    }
}

// Rule Q19.
#[test]
fn an_exhausted_quota_pays_for_no_hedge_although_traffic_grew_since() {
    let (quota, clock) = proven();
    assert!(quota.pay(14, Other, &clock).is_some() && quota.pay(14, Other, &clock).is_some());
    clock.advance(Duration::from_secs(20));
    assert_eq!(quota.pay(14, Other, &clock), None);
    // They give back nearly one retry.
    (0..20).for_each(|_| quota.first_succeeded(0));
    assert_eq!((quota.mode(), quota.pay_hedge(5, &clock)), (Some(QuotaMode::Exhausted), None));
    (0..2).for_each(|_| quota.first_succeeded(0));
    assert_eq!(quota.mode(), Some(QuotaMode::Spending));
    assert!(quota.pay_hedge(5, &clock).is_some());
}

// Rule Q12.
#[test]
fn a_hedge_measures_traffic_as_a_failure_does() {
    // In units of 1/64 of a retry, an attempt of each half second is 104.
    let capacity = |quota: &EvidenceQuota, clock: &ByHand| (64.0 * quota.knowledge(clock).capacity()).to_string();

    // A hedge begins a burst.
    let (quota, clock) = proven();
    assert!(quota.pay_hedge(5, &clock).is_some());
    assert_eq!(capacity(&quota, &clock), "104");

    // 100 attempts in no time, of which a quarter counts over five seconds when they are twenty seconds old.
    let (quota, clock) = proven();
    fail_and_recover(&quota, &clock, 50);
    assert_eq!(quota.available(), 2, "nothing was measured");
    let later = ByHand::at(Duration::from_secs(120));
    assert!(quota.pay_hedge(5, &later).is_some());
    assert_eq!(capacity(&quota, &later), (49 * 52_000 / 5_500).to_string());
    assert_eq!(quota.available(), (49 * 52_000 / 5_500 - 64) / 64);
}

// Rule Q20.
#[test]
fn a_failure_after_a_hedge_consults_exhausted_peers() {
    let (quota, clock) = proven();
    quota.set_peers(QuotaKnowledge::new(1_010.0, 1_000.0, None), &clock);
    assert!(quota.pay_hedge(5, &clock).is_some());
    assert_eq!(quota.pay(14, Other, &clock), None);
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
    quota.give_back(0);
    assert_eq!(quota.available(), 0, "nothing was paid for the free one");
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

// Rule Q20.
#[test]
fn what_a_quota_gave_back_beyond_what_was_missing_is_in_its_report() {
    let peers = QuotaKnowledge::new(10.0, 100.0, None);
    let missing = |quota: &EvidenceQuota, clock: &ByHand| quota.knowledge(clock).missing().to_string();
    let (quota, clock) = proven();
    fail_and_recover(&quota, &clock, 1);
    assert_eq!(missing(&quota, &clock), "0", "without peers it is forgotten");
    quota.set_peers(peers, &clock);
    assert_eq!(missing(&quota, &clock), "0");
    fail_and_recover(&quota, &clock, 1);
    assert_eq!(missing(&quota, &clock), "-1");
    fail_and_recover(&quota, &clock, 1);
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
    for (lacks, times, reported) in [
        (0.0, 1.0, "-2"),
        (0.0, 3.0, "-3"),
        (2.0, 1.0, "-3"),
        (-4.0, 3.0, "-2"),
        (8.0, 1.0, "-4"),
        (4.0, 0.0, "-4"),
        (8.0, 0.0, "-4"),
    ] {
        let (quota, clock) = proven();
        quota.set_peers(QuotaKnowledge::new(10.0, 100.0, None), &clock);
        fail_and_recover(&quota, &clock, 4);
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
    fail_and_recover(&quota, &clock, 20);
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
    fail_and_recover(&quota, &clock, 1);
    while !quota.is_full() {
        quota.first_succeeded(0);
    }
    quota.set_peers(QuotaKnowledge::default(), &clock);
    assert_eq!(quota.knowledge(&clock), QuotaKnowledge::default());
}

// Rule Q12.
#[test]
fn traffic_is_measured_over_ten_seconds_and_then_over_half_of_them() {
    let (quota, clock) = proven();
    assert!(quota.pay(14, Other, &clock).is_some());
    (0..9).for_each(|_| quota.first_succeeded(0));
    // Ten attempts, of which the first one is half an attempt, in 1/64 of a retry.
    for (millis, capacity) in [
        (0, 19 * 52_000 / 500),
        (9_999, 19 * 52_000 / 10_499),
        (10_000, 19 * 52_000 / 10_500),
        (10_001, 7 * 52_000 / 5_500),
        (20_000, 3 * 52_000 / 5_500),
        (3_600_000, 52_000 / 5_500),
    ] {
        let at = ByHand::at(Duration::from_millis(100_000 + millis));
        assert_eq!((64.0 * quota.knowledge(&at).capacity()).to_string(), capacity.to_string(), "{millis} ms");
    }
    // Before the failure, as after a clock was set back.
    assert_eq!(quota.knowledge(&ByHand::at(Duration::from_secs(9))).capacity().to_string(), "30.875");
}

// Rule Q20.
#[test]
fn at_least_one_attempt_is_traffic_in_a_report_however_much_is_missing() {
    let (quota, clock) = proven();
    let pay = || quota.pay(14, Other, &clock).is_some();
    let capacity = || (64.0 * quota.knowledge(&clock).capacity()).to_string();
    assert!(pay() && pay());
    assert_eq!(capacity(), "104", "one of two retries is not traffic");
    (0..18).for_each(|_| assert!(pay()));
    clock.advance(Duration::from_secs(100));
    assert!(!pay());
    assert_eq!(quota.knowledge(&clock).missing().to_string(), "20");
    assert_eq!(capacity(), (52_000 / 5_500).to_string(), "of all attempts, one is left");
}

// Rules Q12, Q20.
#[test]
fn a_quota_with_peers_pays_up_to_exactly_the_capacity_of_all() {
    let paid = |quota: &EvidenceQuota, clock: &ByHand, missing: i32| {
        quota.set_peers(QuotaKnowledge::new(f64::from(missing) / 64.0, 10.0, None), clock);
        quota.pay(14, Other, clock).is_some()
    };
    // In 1/64 of a retry: the traffic of this failure, the capacity of the peers, and the cost.
    let most = 104 + 640 - 64;
    for (missing, is_paid) in [(most, true), (most + 1, false)] {
        let (quota, clock) = proven();
        assert_eq!(paid(&quota, &clock, missing), is_paid, "{missing}");
    }
    // After a retry that helped, the capacity is larger by two retries.
    let most = 5 * 104 + 640 + 2 * 64 - 64;
    for (missing, is_paid) in [(most, true), (most + 1, false)] {
        let (quota, clock) = proven();
        fail_and_recover(&quota, &clock, 1);
        assert_eq!(paid(&quota, &clock, missing), is_paid, "{missing} after a retry that helped");
    }
}

// Rule Q20.
#[test]
fn a_quota_with_little_traffic_spends_exactly_four_retries_between_two_reports_of_rich_peers() {
    let (quota, clock) = proven();
    quota.set_peers(QuotaKnowledge::new(0.0, 1e9, None), &clock);
    let paid = (0..6).map(|_| {
        clock.advance(Duration::from_secs(20));
        quota.pay(14, Other, &clock).is_some()
    });
    assert_eq!(paid.collect::<Vec<_>>(), [true, true, true, true, false, false]);
}

// Rules Q19, Q20.
#[test]
fn a_quota_whose_peers_are_long_silent_is_a_single_quota_again() {
    let (quota, clock) = proven();
    let first = quota.pay(14, Other, &clock).expect("it is paid");
    assert!(quota.pay(14, Other, &clock).is_some());
    quota.set_peers(QuotaKnowledge::new(1_010.0, 1_000.0, None), &clock);
    clock.advance(Duration::from_secs(1_000));
    assert_eq!((quota.pay(14, Other, &clock), quota.mode()), (None, Some(QuotaMode::Exhausted)));
    quota.give_back(first);
    assert_eq!((quota.available(), quota.mode()), (1, Some(QuotaMode::Spending)));
}

// Rules Q16, Q20.
#[test]
fn what_the_peers_reported_fades_from_the_time_to_which_the_clock_was_set_back() {
    let (quota, clock) = (EvidenceQuota::new(), ByHand::at(Duration::from_secs(1_000)));
    quota.first_succeeded(0);
    quota.set_peers(QuotaKnowledge::new(1_010.0, 1_000.0, None), &clock);
    clock.set(Duration::from_secs(10));
    assert_eq!(quota.pay(14, Other, &clock), None);
    clock.advance(Duration::from_secs(300));
    assert!(quota.pay(14, Other, &clock).is_some());
}
