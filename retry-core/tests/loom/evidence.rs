//! The quota by evidence.

use super::{ByHand, in_three, shared};
use loom::sync::Arc;
use loom::thread;
use retry_core::quota::{EvidenceQuota, QuotaKnowledge};
use retry_core::{RetryErrorType, RetryQuota};

fn pay(quota: &EvidenceQuota, clock: &ByHand) -> Option<u32> {
    quota.pay(5, RetryErrorType::ServerSide, clock)
}

/// Returns a quota that has paid for eight retries.
fn busy() -> EvidenceQuota {
    let (quota, clock) = (EvidenceQuota::new(), ByHand::at(1));
    quota.first_succeeded(0);
    for _ in 0..8 {
        pay(&quota, &clock).unwrap();
    }
    quota
}

// Rules Q2, Q12.
#[test]
fn no_payment_is_lost_beside_a_retry_that_is_given_back() {
    loom::model(|| {
        let expected = {
            let (quota, clock) = (busy(), ByHand::at(1));
            for _ in 0..2 {
                let paid = pay(&quota, &clock).unwrap();
                quota.give_back(paid);
            }
            pay(&quota, &clock).unwrap();
            quota.available()
        };
        let quota = shared(busy());
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&quota);
            thread::spawn(move || {
                let paid = pay(&other, &ByHand::at(1)).unwrap();
                other.give_back(paid);
            })
        });
        pay(&quota, &ByHand::at(1)).unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(quota.available(), expected);
    });
}

// Rules Q2, Q13.
#[test]
fn no_success_is_lost_beside_a_failure() {
    loom::model(|| {
        let quota = shared(busy());
        let other = Arc::clone(&quota);
        let thread = thread::spawn(move || other.retry_succeeded(1, 0));
        let before = quota.available();
        pay(&quota, &ByHand::at(1)).unwrap();
        thread.join().unwrap();
        // The failure costs one and counts as traffic, the success gives back two.
        assert!(quota.available() > before, "{} after {before}", quota.available());
    });
}

// Rules Q2, Q12.
#[test]
fn failures_that_begin_a_burst_together_count_each() {
    loom::model(|| {
        let quota = shared(EvidenceQuota::new());
        quota.first_succeeded(0);
        // Three attempts in no time are a traffic that pays for eight retries.
        let paid = in_three(&quota, |quota| pay(quota, &ByHand::at(1)));
        assert!(paid.iter().all(Option::is_some));
        assert_eq!(quota.available(), 5);
    });
}

// Rules Q2, Q14.
#[test]
fn a_timeout_counts_beside_another_failure() {
    loom::model(|| {
        let quota = shared(EvidenceQuota::new());
        quota.first_succeeded(0);
        let other = Arc::clone(&quota);
        let thread = thread::spawn(move || pay(&other, &ByHand::at(1)).unwrap());
        quota.pay(10, RetryErrorType::Timeout, &ByHand::at(1));
        thread.join().unwrap();
        // Whether the timeout was retried or not, it cost a retry, and two attempts pay for nearly five.
        assert_eq!(quota.available(), 2);
        // The success of a retry is not evidence now.
        quota.retry_succeeded(1, 0);
        assert_eq!(quota.available(), 2);
    });
}

// Rules Q2, Q20.
#[test]
fn a_burst_that_begins_beside_a_report_of_exhausted_peers_heeds_it() {
    loom::model(|| {
        let quota = shared(EvidenceQuota::new());
        quota.first_succeeded(0);
        let other = Arc::clone(&quota);
        let thread = thread::spawn(move || pay(&other, &ByHand::at(1)));
        quota.set_peers(QuotaKnowledge::new(1_010.0, 1_000.0, None), &ByHand::at(1));
        thread.join().unwrap();
        assert_eq!(pay(&quota, &ByHand::at(1)), None);
    });
}

// Rules Q2, Q13.
#[test]
fn the_first_successes_count_once_together() {
    loom::model(|| {
        let expected = {
            let (quota, clock) = (EvidenceQuota::new(), ByHand::at(1));
            quota.first_succeeded(0);
            pay(&quota, &clock).unwrap();
            quota.knowledge(&clock)
        };
        let quota = shared(EvidenceQuota::new());
        in_three(&quota, |quota| quota.first_succeeded(0));
        pay(&quota, &ByHand::at(1)).unwrap();
        assert_eq!(quota.knowledge(&ByHand::at(1)), expected);
    });
}

// Rules Q2, V9.
#[test]
fn a_hedge_is_paid_for_beside_a_failure() {
    loom::model(|| {
        let quota = shared(EvidenceQuota::new());
        quota.first_succeeded(0);
        let other = Arc::clone(&quota);
        let thread = thread::spawn(move || pay(&other, &ByHand::at(1)));
        let hedge = quota.pay_hedge(5, &ByHand::at(1));
        thread.join().unwrap().unwrap();
        let missing = 1.0 + if hedge.is_some() { 1.0 } else { 0.0 };
        assert!((quota.knowledge(&ByHand::at(1)).missing() - missing).abs() < 0.01);
    });
}
