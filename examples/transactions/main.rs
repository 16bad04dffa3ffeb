//! Transactions that contend: each attempt is the whole transaction, and a lost race is a conflict, not distress.
//!
//! Forty transfers between the same two accounts begin at the same moment. Only one of them can commit at a time, so
//! nearly all of them have to read again, and again. None of that is the store's fault: it refuses in no time, and has
//! done nothing. So a retry after a conflict waits for milliseconds only, and draws nothing from the retry quota. The
//! second half of the program calls the same thing an ordinary failure, and shows what becomes of it.
//!
//! `cargo run --example transactions`

mod store;

use futures_util::future::join_all;
use retry_core::{RetryInfo, RetryQuota, StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use store::{Conflict, Store};

const TRANSFERS: u32 = 40;

/// Transfers contend for long if there are many of them, so a few attempts are not enough.
const fn patient() -> StandardRetryStrategy {
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

/// One attempt: all of the transaction. If it only repeated the commit, it would lose the same race for ever.
async fn attempt(store: &Store, amount: i64, attempts: &AtomicU32) -> Result<(), TransferError> {
    attempts.fetch_add(1, Ordering::Relaxed);
    let mut transaction = store.begin();
    let (from, to) = (transaction.read("savings"), transaction.read("checking"));
    if from < amount {
        return Err(TransferError::Overdrawn);
    }
    tokio::time::sleep(Duration::from_millis(2)).await; // the way to the store and back
    transaction.write("savings", from - amount);
    transaction.write("checking", to + amount);
    transaction.commit()?;
    Ok(())
}

static BANK: StandardRetryStrategy = patient();

#[retryable(strategy = BANK, idempotent = false)]
async fn transfer(store: &Store, amount: i64, attempts: &AtomicU32) -> Result<(), TransferError> {
    attempt(store, amount, attempts).await
}

/// The same lost race, called an ordinary failure that is safe to retry.
#[derive(Debug, RetryInfo)]
#[retry(safe)]
struct Failed;

static MISTAKEN: StandardRetryStrategy = patient();

#[retryable(strategy = MISTAKEN)]
async fn mistaken(store: &Store, amount: i64, attempts: &AtomicU32) -> Result<(), Failed> {
    attempt(store, amount, attempts).await.map_err(|_| Failed)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:<20} {:>9} {:>6} {:>8} {:>10}", "a lost race is", "committed", "failed", "attempts", "quota left");
    show("a conflict", &BANK, async |store, attempts| transfer(store, 1, attempts).await.is_ok()).await;
    show("an ordinary failure", &MISTAKEN, async |store, attempts| mistaken(store, 1, attempts).await.is_ok()).await;
}

/// Runs all transfers at once, and prints what became of them.
async fn show(name: &str, strategy: &StandardRetryStrategy, transfer: impl AsyncFn(&Store, &AtomicU32) -> bool) {
    let (store, attempts) = (Store::new([("savings", 1000)]), AtomicU32::new(0));
    let transfers = (0..TRANSFERS).map(|_| transfer(&store, &attempts));
    let committed = join_all(transfers).await.into_iter().filter(|committed| *committed).count();
    assert_eq!(store.balance("checking"), i64::try_from(committed).unwrap_or(i64::MAX), "each is carried out once");
    assert_eq!(store.balance("savings") + store.balance("checking"), 1000, "and nothing is lost");
    let failed = TRANSFERS as usize - committed;
    let (attempts, left) = (attempts.into_inner(), strategy.quota().available());
    println!("{name:<20} {committed:>9} {failed:>6} {attempts:>8} {left:>10}");
}
