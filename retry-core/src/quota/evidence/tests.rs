use super::EvidenceQuota;
use super::balance::Balance;
use super::burst::{Burst, Knowledge};
use super::word::{Account, FLOOR, MAX_CAPACITY, RETRY, STREAK, Word};
use crate::policy::RetryErrorType::{Other, ServerSide, Timeout};
use crate::quota::RetryQuota;
use crate::time::{ManualTimer, Timestamp};
use std::time::Duration;

/// Returns a quota whose first attempt has succeeded, and its clock.
fn proven() -> (EvidenceQuota, ManualTimer) {
    let quota = EvidenceQuota::new();
    quota.first_succeeded(0);
    (quota, ManualTimer::new())
}

fn pays(quota: &EvidenceQuota, clock: &ManualTimer) -> bool {
    quota.pay(14, ServerSide, clock).is_some()
}

/// Lets this many attempts fail in a second, and returns how many retries are paid.
fn paid(quota: &EvidenceQuota, clock: &ManualTimer, failures: u32) -> u32 {
    let mut paid = 0;
    for _ in 0..failures {
        clock.advance(Duration::from_secs(1) / failures);
        paid += u32::from(pays(quota, clock));
    }
    paid
}

#[test]
fn a_word_keeps_its_contents() {
    let account = Account {
        missing: 1_000_000,
        capacity: MAX_CAPACITY + 2 * RETRY,
        successes: 200_000,
        is_proven: true,
        has_helped: false,
        is_congested: true,
    };
    assert_eq!(account.word().account(), account);
    assert!(!account.word().is_settled());
    assert_eq!(Word::NEW.account(), Account::default());
    let most = Account { missing: u32::MAX, capacity: u32::MAX, successes: u32::MAX, ..account };
    assert_eq!(most.word().account(), most.word().account().word().account(), "amounts that do not fit saturate");
    assert!(most.word().account().is_proven && !most.word().account().has_helped);
}

// Rule Q13.
#[test]
fn a_quota_settles_after_a_streak_of_successes_and_is_not_written_then() {
    let (quota, clock) = proven();
    assert!(quota.is_full());
    assert!(pays(&quota, &clock));
    assert!(!quota.is_full());
    quota.retry_succeeded(1, 0);
    for _ in 1..STREAK {
        assert!(!quota.is_full());
        quota.first_succeeded(0);
    }
    assert!(quota.is_full());
}

// Rule Q12.
#[test]
fn the_capacity_follows_the_traffic() {
    for (rate, most) in [(10, 12), (100, 110), (1_000, 1_100)] {
        let (quota, clock) = proven();
        let paid = paid(&quota, &clock, rate);
        assert!(paid >= rate * 9 / 10 && paid <= rate, "an outage of a second is retried: {paid} of {rate}");
        let more = (0..60).map(|_| self::paid(&quota, &clock, rate)).sum::<u32>();
        assert!(more <= most, "a longer one is not: {more} at {rate} per second");
    }
}

// Rule Q12.
#[test]
fn a_quota_with_little_traffic_retries_an_operation_twice() {
    for wait in [0, 500, 1_000, 20_000, 3_600_000].map(Duration::from_millis) {
        let (quota, clock) = proven();
        assert!(pays(&quota, &clock));
        clock.advance(wait);
        assert!(pays(&quota, &clock), "after {wait:?}");
        clock.advance(Duration::from_secs(1));
        assert!(!pays(&quota, &clock));
    }
}

// Rule Q13.
#[test]
fn successes_of_retries_pay_for_more_while_half_of_the_attempts_succeed() {
    // Of each 10 attempts, this many succeed. The failed ones are retried if the quota pays for it.
    for (successes, is_paid) in [(7, true), (6, true), (3, false)] {
        let (quota, clock) = proven();
        let (mut failures, mut refused, mut is_retry) = (0_u32, 0_u32, false);
        for attempt in 0..20_000_u32 {
            clock.advance(Duration::from_millis(4));
            // A sequence without a pattern in the ones place.
            let succeeds = attempt.wrapping_mul(2_654_435_761) >> 16 & 1023 < successes * 1024 / 10;
            match (succeeds, is_retry) {
                (true, true) => quota.retry_succeeded(1, 0),
                (true, false) => quota.first_succeeded(0),
                (false, _) => {}
            }
            is_retry = !succeeds && pays(&quota, &clock);
            failures += u32::from(!succeeds);
            refused += u32::from(!succeeds && !is_retry);
        }
        let share = f64::from(refused) / f64::from(failures);
        assert_eq!(share < 0.02, is_paid, "{share} of the failures at {successes} successes of 10");
    }
}

// Rule Q14.
#[test]
fn one_timeout_is_retried_and_later_ones_after_five_successes() {
    let (quota, clock) = proven();
    assert_eq!(quota.pay(14, Timeout, &clock), Some(1));
    assert_eq!(quota.pay(14, Timeout, &clock), None);
    for _ in 0..4 {
        quota.first_succeeded(0);
    }
    assert_eq!(quota.pay(14, Timeout, &clock), None, "the failure before took them");
    for _ in 0..20 {
        quota.first_succeeded(0);
    }
    assert_eq!(quota.pay(14, Timeout, &clock), Some(1));
}

// Rule Q15.
#[test]
fn a_new_quota_retries_no_timeout_until_an_attempt_succeeds() {
    let (quota, clock) = (EvidenceQuota::new(), ManualTimer::new());
    assert_eq!(quota.pay(14, Timeout, &clock), None);
    quota.first_succeeded(0);
    assert!(quota.is_full());
    assert_eq!(quota.pay(14, Timeout, &clock), Some(1));
    assert!(EvidenceQuota::new().pay(14, Other, &clock).is_some(), "other failures are");
}

fn at(seconds: u64) -> Timestamp {
    Timestamp::START.saturating_add(Duration::from_secs(seconds))
}

/// What a quota knows that spent some retries after failures at the start.
fn spent() -> Knowledge {
    let account = Account { missing: 100 * RETRY, capacity: 100 * RETRY, is_proven: true, ..Account::default() };
    Knowledge { account, burst: Burst { began: Some(at(0)), attempts: 90, congested: None, score: 0 } }
}

// Rule Q14.
#[test]
fn successes_of_retries_are_no_evidence_for_two_minutes_after_a_timeout() {
    let account = spent().account;
    assert_eq!(account.succeeded(false).missing, 98 * RETRY);
    let (timed_out, _) = spent().failed(false, true, at(1));
    assert!(timed_out.account.is_congested);
    assert_eq!(timed_out.account.succeeded(false).missing, timed_out.account.missing);
    assert!(!timed_out.account.succeeded(false).has_helped);
    assert_eq!(timed_out.account.succeeded(true).missing, timed_out.account.missing - 5 * RETRY / 16);
    for (seconds, is_congested) in [(120, true), (121, false)] {
        let (later, _) = timed_out.failed(false, false, at(seconds));
        assert_eq!(later.account.is_congested, is_congested, "{seconds} s");
    }
}

// Rule Q14.
#[test]
fn a_refused_timeout_costs_a_retry_and_another_refused_failure_does_not() {
    let full = Knowledge { account: Account { missing: 10 * RETRY, ..spent().account }, ..spent() };
    let (after, is_granted) = full.failed(false, true, at(1));
    assert!(!is_granted);
    assert_eq!(after.account.missing, 11 * RETRY);
    let (after, is_granted) = spent().failed(false, false, at(1));
    assert!(!is_granted && after.account.missing == spent().account.missing);
    let most = (0..1_000).fold(spent(), |knowledge, _| knowledge.failed(false, true, at(9)).0).account;
    let measured = most.capacity;
    assert!(most.missing <= measured + measured / 2 && most.missing > measured, "{most:?}");
}

// Rule Q11.
#[test]
fn a_retry_that_was_not_sent_is_given_back() {
    let (quota, clock) = proven();
    assert!(pays(&quota, &clock));
    assert_eq!(quota.available(), 1);
    quota.give_back(1);
    assert_eq!(quota.available(), 2);
    assert!(!quota.is_full(), "nothing succeeded");
}

// Rule Q16.
#[test]
fn a_clock_that_stands_still_or_jumps_does_no_harm() {
    let (quota, clock) = proven();
    let paid = (0..50_000).filter(|_| pays(&quota, &clock)).count();
    assert!(paid <= 16_384, "a clock that stands still: {paid}");
    for jump in [Duration::from_secs(36_000), Duration::MAX] {
        clock.advance(jump);
        assert!(!pays(&quota, &clock), "no time gives anything back");
    }

    let (quota, clock) = proven();
    let back = ManualTimer::new();
    clock.advance(Duration::from_secs(36_000));
    assert!(quota.pay(14, Timeout, &clock).is_some());
    for _ in 0..3 {
        back.advance(Duration::from_millis(200));
        pays(&quota, &back);
    }
    for _ in 0..200 {
        back.advance(Duration::from_secs(1));
        for _ in 0..STREAK + 100 {
            quota.first_succeeded(0);
        }
        pays(&quota, &back);
    }
    let account = quota.with_balance(Balance::account);
    assert!(!account.is_congested, "time goes on after the clock was set back");
    assert!(account.capacity >= FLOOR);
}

// Rule Q2.
#[test]
fn no_change_of_another_thread_is_lost() {
    let (quota, clock) = proven();
    let threads = 4;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..10_000 {
                    if pays(&quota, &clock) {
                        quota.give_back(1);
                    }
                }
            });
        }
    });
    assert_eq!(quota.with_balance(Balance::account).missing, 0);
}
