use super::EvidenceQuota;
use super::judgement::{Burst, Known};
use super::ledger::Ledger;
use super::millis::Millis;
use super::word::{Account, RETRY, STREAK, Word};
use crate::policy::RetryErrorType::{Other, ServerSide, Timeout};
use crate::quota::{QuotaMode, RetryQuota};
use crate::time::{Clock, ManualTimer, Timestamp};
use std::cell::Cell;
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
        attempts: 50_000_000,
        missing: 1_000_000,
        score: 17,
        successes: 31,
        is_proven: true,
        has_helped: false,
        is_congested: true,
    };
    assert_eq!(account.word().account(), account);
    assert!(!account.word().is_settled());
    assert_eq!(Word::NEW.account(), Account::default());
    let most = Account { attempts: u32::MAX, missing: u32::MAX, score: u32::MAX, successes: u32::MAX, ..account };
    assert_eq!(most.word().account(), most.word().account().word().account(), "amounts that do not fit saturate");
    assert!(most.word().account().is_proven && !most.word().account().has_helped);
    let most = (0..100).fold(most.word(), |word, _| word.succeeded(true));
    assert!(
        most.account().missing > 1_500_000 && most.account().attempts < 100,
        "a count that overflows begins at zero"
    );
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

/// The knowledge of a quota that spent some retries after failures at the start.
fn spent() -> Known {
    let (missing, attempts) = (100 * RETRY, 90);
    let account = Account { missing, attempts, is_proven: true, ..Account::default() };
    Known { account, burst: Burst { began: Millis(0), timed_out: None, capacity: 0, is_short: false } }
}

// Rule Q14.
#[test]
fn successes_of_retries_are_no_evidence_for_two_minutes_after_a_timeout() {
    let word = spent().account.word();
    assert_eq!(word.succeeded(false).account().missing, 98 * RETRY);
    let (timed_out, _) = spent().failed(true, Millis(1_000), None);
    let (word, missing) = (timed_out.account.word(), timed_out.account.missing);
    assert!(timed_out.account.is_congested);
    assert_eq!(word.succeeded(false).account().missing, missing);
    assert!(!word.succeeded(false).account().has_helped);
    assert_eq!(word.succeeded(true).account().missing, missing - 5 * RETRY / 16);
    for (seconds, is_congested) in [(120, true), (121, false)] {
        let (later, _) = timed_out.failed(false, Millis(seconds * 1_000), None);
        assert_eq!(later.account.is_congested, is_congested, "{seconds} s");
    }
}

// Rule Q14.
#[test]
fn a_refused_timeout_costs_a_retry_and_another_refused_failure_does_not() {
    let full = Known { account: Account { missing: 10 * RETRY, ..spent().account }, ..spent() };
    let (after, is_granted) = full.failed(true, Millis(1_000), None);
    assert!(!is_granted);
    assert_eq!(after.account.missing, 11 * RETRY);
    let (after, is_granted) = spent().failed(false, Millis(1_000), None);
    assert!(!is_granted && after.account.missing == spent().account.missing);
    let most = (0..1_000).fold(spent(), |known, _| known.failed(true, Millis(9_000), None).0);
    let (missing, measured) = (most.account.missing, most.burst.capacity);
    assert!(missing <= measured + measured / 2 && missing > measured, "{most:?}");
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

// Rule Q19.
#[test]
fn the_mode_says_what_the_quota_does() {
    let (quota, clock) = proven();
    let mode = || quota.mode().unwrap();
    assert_eq!(EvidenceQuota::new().mode(), Some(QuotaMode::Full));
    assert_eq!(mode(), QuotaMode::Full);
    assert_eq!((pays(&quota, &clock), mode()), (true, QuotaMode::Spending));
    quota.retry_succeeded(1, 0);
    assert_eq!(mode(), QuotaMode::Spending, "nothing is missing, but the failure is not forgotten");
    clock.advance(Duration::from_secs(9));
    while pays(&quota, &clock) {
        assert_eq!(mode(), QuotaMode::Spending);
    }
    assert_eq!(mode(), QuotaMode::Exhausted);
    for _ in 0..10 {
        quota.retry_succeeded(1, 0);
        assert_eq!(mode(), QuotaMode::Spending, "a retry could be paid again");
    }
    quota.pay(14, Timeout, &clock);
    assert_eq!(mode(), QuotaMode::Congested);
    while quota.pay(14, Other, &clock).is_some() {}
    assert_eq!(mode(), QuotaMode::Exhausted, "it says more");
    for _ in 0..1_000 {
        quota.first_succeeded(0);
    }
    assert_eq!(mode(), QuotaMode::Full);
}

/// A clock that counts how often it is read.
#[derive(Default)]
struct Counted(Cell<u32>);

impl Clock for Counted {
    fn now(&self) -> Timestamp {
        self.0.update(|count| count + 1);
        Timestamp::START
    }
}

// Rule Q18.
#[test]
fn a_failure_while_at_most_one_retry_is_missing_does_not_read_the_clock() {
    let (quota, clock) = (EvidenceQuota::new(), Counted::default());
    let reads = |error_type| {
        let before = clock.0.get();
        assert_eq!(quota.pay(14, error_type, &clock), Some(1));
        clock.0.get() - before
    };
    quota.first_succeeded(0);
    assert_eq!(reads(Other), 1, "the first one begins the time of the burst");
    for missing in [1, 0, 0] {
        assert_eq!(reads(Other), 0, "{missing} are missing");
        quota.retry_succeeded(1, 0);
    }
    assert_eq!([reads(Other), reads(Other), reads(Other)], [0, 0, 1], "two are missing");
    for _ in 0..10 {
        quota.retry_succeeded(1, 0);
    }
    assert_eq!([reads(Timeout), reads(Other)], [1, 1], "not long after a timeout");

    let (quota, clock) = (EvidenceQuota::new(), Counted::default());
    quota.first_succeeded(0);
    assert!(quota.pay_hedge(5, &clock).is_some());
    assert_eq!(quota.pay(14, Other, &clock), Some(1));
    assert_eq!(clock.0.get(), 1, "the hedge began the time of the burst");
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
    let account = quota.with_ledger(Ledger::account);
    assert!(!account.is_congested, "time continues after the clock was set back");
    assert!(quota.available() > 0);
}

// Rule Q2.
#[test]
fn no_change_of_another_thread_is_lost() {
    let (quota, clock) = proven();
    // Miri is slow, but switches threads often.
    let (threads, rounds) = (4, if cfg!(miri) { 100 } else { 10_000 });
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for _ in 0..rounds {
                    if pays(&quota, &clock) {
                        quota.give_back(1);
                    }
                }
            });
        }
    });
    assert_eq!(quota.with_ledger(Ledger::account).missing, 0);
}
