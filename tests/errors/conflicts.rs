//! Optimistic transactions that contend. Each attempt is a whole transaction.

#[path = "../../examples/transactions/store.rs"]
mod store;

use crate::support::{Failed, millis};
use retry_core::strategy::RetryCosts;
use retry_core::{RetryQuota, StandardRetryStrategy, retryable};
use std::cell::Cell;
use std::rc::Rc;
use store::Store;

const TRANSFERS: u32 = 40;

/// The result of transfers that began at the same moment.
#[derive(Debug)]
struct Contention {
    committed: u32,
    sends: u32,
    quota_left: u32,
}

#[retryable(strategy = strategy)]
async fn transfer(strategy: &StandardRetryStrategy, store: &Store, sends: &Cell<u32>) -> Result<(), Failed> {
    sends.set(sends.get() + 1);
    let mut transaction = store.begin();
    let (from, to) = (transaction.read("from"), transaction.read("to"));
    tokio::time::sleep(millis(2)).await;
    transaction.write("from", from - 1);
    transaction.write("to", to + 1);
    transaction.commit().map_err(|_| Failed::CONFLICT)
}

async fn contend(strategy: StandardRetryStrategy) -> Contention {
    let (strategy, store, sends) = (Rc::new(strategy), Rc::new(Store::new([("from", 100)])), Rc::new(Cell::new(0)));
    let committed = Rc::new(Cell::new(0));
    let tasks = tokio::task::LocalSet::new();
    for _ in 0..TRANSFERS {
        let (strategy, store, sends) = (Rc::clone(&strategy), Rc::clone(&store), Rc::clone(&sends));
        let committed = Rc::clone(&committed);
        tasks.spawn_local(async move {
            if transfer(&strategy, &store, &sends).await.is_ok() {
                committed.set(committed.get() + 1);
            }
        });
    }
    tasks.await;
    assert_eq!(
        (store.balance("from"), store.balance("to")),
        (100 - i64::from(committed.get()), committed.get().into())
    );
    Contention { committed: committed.get(), sends: sends.get(), quota_left: strategy.quota().available() }
}

const fn patient() -> StandardRetryStrategy {
    StandardRetryStrategy::new().max_attempts(12).seed(1)
}

// Rule Q5.
#[tokio::test(start_paused = true)]
async fn contending_transactions_all_commit_without_flooding_the_store() {
    let contention = contend(patient()).await;
    assert_eq!((contention.committed, contention.quota_left), (TRANSFERS, 500), "{contention:?}");
    // Without a backoff, one of n transactions commits in each round: 40 + 39 + .. + 1 = 820 sends.
    assert!(contention.sends <= 5 * TRANSFERS, "{contention:?}");
}

// Rule Q5.
#[tokio::test(start_paused = true)]
async fn a_cost_of_conflicts_protects_a_database_that_reports_overload_as_a_conflict() {
    let contention = contend(patient().retry_costs(RetryCosts::new(5).conflict(5)).quota_capacity(100)).await;
    assert!(contention.committed < TRANSFERS && contention.sends <= 100, "{contention:?}");
}
