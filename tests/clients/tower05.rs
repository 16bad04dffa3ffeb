//! The budget of tower's own retry layer, paid from a quota of retry-core.

use retry_core::quota::EvidenceQuota;
use retry_core::{Clock, RetryQuota, StandardRetryStrategy, TokenBucket, retry_blocking};
use retry_tower::tower05::QuotaBudget;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tower::retry::budget::Budget;
use tower::retry::{Policy, Retry};
use tower::{Service, ServiceExt, service_fn};

/// Retries each failure for as long as the budget pays. Nothing else stops it.
#[derive(Clone)]
struct Paid<B>(B);

impl<B: Budget> Policy<bool, (), String> for Paid<B> {
    type Future = Ready<()>;

    fn retry(&mut self, _: &mut bool, outcome: &mut Result<(), String>) -> Option<Ready<()>> {
        match outcome {
            Ok(()) => {
                self.0.deposit();
                None
            }
            Err(_) => self.0.withdraw().then(|| ready(())),
        }
    }

    fn clone_request(&mut self, request: &bool) -> Option<bool> {
        Some(*request)
    }
}

/// Sends a request through tower's retry layer to a service that succeeds or fails as the request says, and returns the
/// number of attempts.
async fn send(budget: impl Budget + Clone, succeeds: bool) -> u32 {
    let attempts = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&attempts);
    let service = service_fn(move |succeeds: bool| {
        // More attempts than any quota here pays for end the test.
        assert!(count.fetch_add(1, Ordering::Relaxed) < 100, "the budget does not stop the retries");
        ready(if succeeds { Ok(()) } else { Err("busy".to_owned()) })
    });
    let outcome = Retry::new(Paid(budget), service).ready().await.unwrap().call(succeeds).await;
    assert_eq!(outcome.is_ok(), succeeds);
    attempts.load(Ordering::Relaxed)
}

// Rule H10.
#[tokio::test]
async fn a_quota_that_ran_dry_stops_the_retries_of_towers_layer_and_successes_refill_it() {
    let quota = TokenBucket::new(12);
    let budget = QuotaBudget::new(&quota);
    assert_eq!(send(budget, false).await, 3, "the quota pays for two retries");
    assert_eq!(quota.available(), 2);
    assert_eq!(send(budget, false).await, 1, "the quota is dry");
    for _ in 0..3 {
        assert_eq!(send(budget, true).await, 1);
    }
    assert_eq!(quota.available(), 5);
    assert_eq!(send(budget, false).await, 2, "three successes paid for one retry");
    assert_eq!(quota.available(), 0);
}

// Rule H10.
#[tokio::test]
async fn the_cost_of_a_retry_and_the_refund_are_settings() {
    let quota = TokenBucket::new(12);
    let budget = QuotaBudget::new(&quota).cost(4).refund(3);
    assert_eq!(send(budget, false).await, 4);
    assert_eq!(quota.available(), 0);
    send(budget, true).await;
    assert_eq!(quota.available(), 3);
    assert_eq!(send(budget, false).await, 1, "less than the cost is left, and stays");
    assert_eq!(quota.available(), 3);

    let free = QuotaBudget::new(&quota).cost(0);
    assert!(free.withdraw(), "a retry that costs nothing is always paid for");
    assert_eq!(quota.available(), 3);
}

// Rule H10.
#[tokio::test]
async fn towers_layer_and_a_strategy_pay_from_the_same_quota() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

    assert_eq!(send(QuotaBudget::new(STORE.quota()).cost(100), false).await, 6);
    let report = retry_blocking(&STORE, || Err::<(), _>("busy")).when(|_| true).report();
    assert_eq!(report.attempts, 1, "the retries of tower's layer used the quota up");
}

// Rule H10.
#[test]
fn a_refill_over_time_is_paid_out() {
    let quota = TokenBucket::new(5).refill(5, Duration::from_nanos(1));
    let budget = QuotaBudget::new(&quota);
    assert!(budget.withdraw());
    // The clock moves on by at least a nanosecond before long.
    assert!((0..100_000_000).any(|_| budget.withdraw()));
}

/// A quota that is always empty.
#[derive(Default)]
struct Empty {
    refusals: AtomicU32,
}

impl RetryQuota for Empty {
    fn try_acquire(&self, _: u32, _: &dyn Clock) -> bool {
        false
    }

    fn refund(&self, _: u32) {}

    fn available(&self) -> u32 {
        0
    }

    fn note_refusal(&self, cost: u32, _: Option<&str>) {
        self.refusals.fetch_add(cost, Ordering::Relaxed);
    }
}

// Rule H10.
#[tokio::test]
async fn the_quota_is_told_of_each_refusal() {
    let quota = Empty::default();
    send(QuotaBudget::new(&quota), false).await;
    send(QuotaBudget::new(&quota).cost(20), false).await;
    assert_eq!(quota.refusals.load(Ordering::Relaxed), 25);
}

// Rule H10.
#[test]
fn a_quota_that_judges_by_what_happened_is_told_of_successes_and_failures() {
    let quota = Arc::new(EvidenceQuota::new());
    let budget = QuotaBudget::new(Arc::clone(&quota));
    budget.deposit();
    assert!(quota.is_full(), "the quota has seen a success");
    assert!(budget.withdraw());
    assert!(!quota.is_full(), "and a failure");
    // One success is not a refund of a whole retry, of which there are two.
    budget.deposit();
    assert_eq!(quota.available(), 1);
    for _ in 0..100 {
        budget.deposit();
    }
    assert!(quota.is_full());
}
