//! What a strategy tells its quota.

use crate::support::{ByHand, Failed};
use retry_config::{RetryConfig, RetryMode};
use retry_core::strategy::Refund;
use retry_core::{
    AdaptiveRetryStrategy, Clock, Failure, RetryError, RetryErrorType, RetryQuota, RetryStrategy,
    StandardRetryStrategy, Success,
};
use retry_limits::PacedRetryStrategy;
use std::sync::Mutex;
use std::time::Duration;

/// Records what it is told. A retry costs 3 more than the settings say, and one of a conflict is refused.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<String>>);

impl Told {
    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl RetryQuota for Told {
    fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
        unreachable!("a strategy calls `pay`")
    }

    fn refund(&self, _: u32) {
        unreachable!("a strategy says what happened")
    }

    fn available(&self) -> u32 {
        7
    }

    fn pay(&self, cost: u32, error_type: RetryErrorType, clock: &dyn Clock) -> Option<u32> {
        let paid = Some(cost + 3).filter(|_| error_type != RetryErrorType::Conflict);
        self.note(format!("pay {cost} {error_type:?} at {:?}: {paid:?}", clock.now().since_origin()));
        paid
    }

    fn give_back(&self, paid: u32) {
        self.note(format!("give_back {paid}"));
    }

    fn first_succeeded(&self, refund: u32) {
        self.note(format!("first_succeeded {refund}"));
    }

    fn retry_succeeded(&self, paid: u32, refund: u32) {
        self.note(format!("retry_succeeded {paid} {refund}"));
    }

    fn is_low(&self) -> bool {
        unreachable!("a strategy calls `pay_hedge`")
    }

    fn pay_hedge(&self, cost: u32, clock: &dyn Clock) -> Option<u32> {
        self.note(format!("pay_hedge {cost} at {:?}", clock.now().since_origin()));
        Some(cost + 4)
    }

    fn note_refusal(&self, cost: u32, _: Option<&str>) {
        self.note(format!("note_refusal {cost}"));
    }
}

/// Lets operations of a strategy end in each way. Returns what the quota was told.
fn report<S: RetryStrategy>(strategy: &S, quota: &Told) -> Vec<String> {
    let clock = ByHand::at(Duration::from_secs(9));
    let begin = || strategy.acquire_initial_token(&clock).unwrap();
    let fail = |token, error: Failed| strategy.refresh_retry_token(token, &Failure::of(&error), &clock);

    strategy.record_success(begin(), &Success::default(), &clock).unwrap();
    let token = fail(begin(), Failed::TIMEOUT).unwrap();
    let token = fail(token, Failed::SAFE).unwrap();
    strategy.record_success(token, &Success::default(), &clock).unwrap();
    // Two retries that are not sent: the first is dropped, the second is refused by the service.
    strategy.release(fail(begin(), Failed::SAFE).unwrap());
    let unsent = Failure::of(&Failed::SAFE).with_sent(false);
    let token = strategy.refresh_retry_token(fail(begin(), Failed::TIMEOUT).unwrap(), &unsent, &clock).unwrap();
    strategy.release(token);
    strategy.release(begin());
    let hedge = || strategy.acquire_hedge(&begin(), &clock).unwrap();
    strategy.release(hedge());
    strategy.record_success(hedge(), &Success::default(), &clock).unwrap();
    // Both attempts failed.
    strategy.release(fail(hedge(), Failed::SAFE).unwrap());
    assert_eq!(fail(begin(), Failed::CONFLICT).err(), Some(RetryError::QuotaExhausted));
    assert!(fail(begin(), Failed::FATAL).is_err());
    quota.take()
}

fn expected(retry_refund: u32, hedge_refund: u32) -> Vec<String> {
    [
        "first_succeeded 2",
        "pay 10 Timeout at 9s: Some(13)",
        "pay 5 Other at 9s: Some(8)",
        &format!("retry_succeeded 8 {retry_refund}"),
        "pay 5 Other at 9s: Some(8)",
        "give_back 8",
        "pay 10 Timeout at 9s: Some(13)",
        "give_back 13",
        "pay 5 Other at 9s: Some(8)",
        "give_back 8",
        "pay_hedge 5 at 9s",
        "give_back 9",
        "pay_hedge 5 at 9s",
        &format!("retry_succeeded 9 {hedge_refund}"),
        "pay_hedge 5 at 9s",
        "pay 5 Other at 9s: Some(8)",
        "give_back 8",
        "pay 0 Conflict at 9s: None",
        "note_refusal 0",
    ]
    .map(str::to_owned)
    .to_vec()
}

// Rules Q11, V4.
#[test]
fn every_strategy_tells_its_quota_what_happened() {
    let standard = || StandardRetryStrategy::new().refunds(2, Refund::Amount(4)).with_quota(Told::default());
    let strategy = standard();
    assert_eq!(report(&strategy, strategy.quota()), expected(4, 4), "standard");
    let strategy = StandardRetryStrategy::new().refunds(2, Refund::LastCost).with_quota(Told::default());
    assert_eq!(report(&strategy, strategy.quota()), expected(8, 9), "a refund of what was paid");
    let strategy = AdaptiveRetryStrategy::over(standard());
    assert_eq!(report(&strategy, strategy.standard().quota()), expected(4, 4), "adaptive");
    let strategy = PacedRetryStrategy::over(standard());
    assert_eq!(report(&strategy, strategy.standard().quota()), expected(4, 4), "paced");
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        let strategy = RetryConfig::new().mode(mode).build_on(standard()).unwrap();
        assert_eq!(report(&strategy, strategy.quota()), expected(4, 4), "configured, {mode:?}");
    }
}

// Rule Q11.
#[test]
fn a_throttled_attempt_of_a_paced_strategy_asks_no_quota_and_its_success_says_so() {
    let strategy = PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(Told::default()));
    let clock = ByHand::at(Duration::from_secs(9));
    let token = strategy.acquire_initial_token(&clock).unwrap();
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    strategy.record_success(token, &Success::default(), &clock).unwrap();
    assert_eq!(strategy.standard().quota().take(), ["retry_succeeded 0 1"]);
}

// Rule Q11.
#[test]
fn a_quota_that_only_counts_gets_payments_and_refunds() {
    /// The default of each method of what happened.
    struct Counting(Mutex<Vec<String>>);
    impl RetryQuota for Counting {
        fn try_acquire(&self, cost: u32, _: &dyn Clock) -> bool {
            self.0.lock().unwrap().push(format!("-{cost}"));
            cost < 10
        }
        fn refund(&self, amount: u32) {
            self.0.lock().unwrap().push(format!("+{amount}"));
        }
        fn available(&self) -> u32 {
            0
        }
    }
    let quota = Counting(Mutex::default());
    let clock = ByHand::at(Duration::ZERO);
    assert_eq!(quota.pay(9, RetryErrorType::Timeout, &clock), Some(9));
    assert_eq!(quota.pay(10, RetryErrorType::Timeout, &clock), None);
    quota.give_back(3);
    quota.first_succeeded(4);
    quota.retry_succeeded(5, 6);
    assert!(!quota.is_full());
    assert_eq!(*quota.0.lock().unwrap(), ["-9", "-10", "+3", "+4", "+6"]);
}
