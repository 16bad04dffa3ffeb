//! Transactions that contend: each attempt is the whole transaction, and a lost race is a conflict, not an overload.
//!
//! Forty transfers between the same two accounts begin at the same moment. Only one of them can commit at a time, so
//! most of them have to read and commit again several times. The store is healthy: it refuses a commit immediately and
//! changes nothing. So a retry after a conflict waits only milliseconds and costs nothing of the retry quota. The
//! second half of the program treats the same lost race as an ordinary failure, for comparison.
//!
//! For a real database, `sqlx09::transaction` and `tokio_postgres07::transaction` of retry-clients begin and commit, and know
//! whether COMMIT had been sent.
//!
//! `cargo run --example transactions`

mod store;

use futures_util::future::join_all;
use retry_core::{RetryInfo, RetryQuota, StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use store::{Conflict, Store};

const TRANSFERS: u32 = 40;

/// Allows 20 attempts, because each transfer can lose the race many times. The quota has a fixed size, so that the table can show what is
/// left of it.
const fn contended() -> StandardRetryStrategy {
    StandardRetryStrategy::new().max_attempts(20).backoff(Duration::from_millis(20), Duration::from_millis(500))
}

#[derive(Debug, RetryInfo)]
enum TransferError {
    #[retry(conflict)]
    LostRace,
    #[retry(never)]
    Overdrawn,
}

impl From<Conflict> for TransferError {
    fn from(_: Conflict) -> Self {
        Self::LostRace
    }
}

/// One attempt is the whole transaction. An attempt that repeated only the commit would fail each time.
async fn attempt(store: &Store, amount: i64, attempts: &AtomicU32) -> Result<(), TransferError> {
    attempts.fetch_add(1, Ordering::Relaxed);
    let mut transaction = store.begin();
    let (from, to) = (transaction.read("savings"), transaction.read("checking"));
    if from < amount {
        return Err(TransferError::Overdrawn);
    }
    tokio::time::sleep(Duration::from_millis(2)).await; // the round trip to the store
    transaction.write("savings", from - amount);
    transaction.write("checking", to + amount);
    transaction.commit()?;
    Ok(())
}

static BANK: StandardRetryStrategy = contended();

#[retryable(strategy = BANK, idempotent = false)]
async fn transfer(store: &Store, amount: i64, attempts: &AtomicU32) -> Result<(), TransferError> {
    attempt(store, amount, attempts).await
}

/// The same lost race, classified as an ordinary failure that is safe to retry.
#[derive(Debug, RetryInfo)]
#[retry(safe)]
struct Failed;

static MISCLASSIFIED: StandardRetryStrategy = contended();

#[retryable(strategy = MISCLASSIFIED)]
async fn misclassified(store: &Store, amount: i64, attempts: &AtomicU32) -> Result<(), Failed> {
    attempt(store, amount, attempts).await.map_err(|_| Failed)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:<20} {:>9} {:>6} {:>8} {:>10}", "a lost race is", "committed", "failed", "attempts", "quota left");
    show("a conflict", &BANK, async |store, attempts| transfer(store, 1, attempts).await.is_ok()).await;
    show("an ordinary failure", &MISCLASSIFIED, async |store, attempts| {
        misclassified(store, 1, attempts).await.is_ok()
    })
    .await;
}

/// Runs all transfers at the same time and prints a row of results.
async fn show(name: &str, strategy: &StandardRetryStrategy, transfer: impl AsyncFn(&Store, &AtomicU32) -> bool) {
    let (store, attempts) = (Store::new([("savings", 1000)]), AtomicU32::new(0));
    let transfers = (0..TRANSFERS).map(|_| transfer(&store, &attempts));
    let committed = join_all(transfers).await.into_iter().filter(|committed| *committed).count();
    assert_eq!(
        store.balance("checking"),
        i64::try_from(committed).unwrap_or(i64::MAX),
        "each committed transfer is carried out once"
    );
    assert_eq!(store.balance("savings") + store.balance("checking"), 1000, "no money is lost");
    let failed = TRANSFERS as usize - committed;
    let (attempts, left) = (attempts.into_inner(), strategy.quota().available());
    println!("{name:<20} {committed:>9} {failed:>6} {attempts:>8} {left:>10}");
}
