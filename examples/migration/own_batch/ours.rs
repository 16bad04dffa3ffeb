//! A batch of which the table refuses a part, with retry-core.

use migration::Table;
use retry_core::{PatientRetryStrategy, RetryDirective, RetryErrorType, policy_fn, retryable};
use std::time::Duration;

static TABLE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

/// The outcome of an attempt is the number of entries that were accepted, and of those that are left.
fn policy(&(accepted, left): &(usize, usize)) -> RetryDirective {
    match left {
        0 => RetryDirective::succeed(),
        _ => RetryDirective::retry(RetryErrorType::Throttling).progressed(accepted > 0),
    }
}

#[retryable(strategy = TABLE, policy = policy_fn(policy))]
async fn put(table: &Table, entries: &mut Vec<u32>) -> (usize, usize) {
    let before = entries.len();
    *entries = table.put(entries).await;
    (before - entries.len(), entries.len())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let table = Table::default();
    let (_, left) = put(&table, &mut (0..20).collect()).await;
    println!("sent: {}, in {} requests", left == 0, table.requests());
}
