//! Transfers that contend for a few accounts, while their server is restarted.

use crate::postgres::control_restarted;
use retry_clients::TransactionError;
use std::collections::HashMap;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// The number of workers that transfer at the same time.
pub const WORKERS: i64 = 40;

/// The number of all transfers.
pub const TRANSFERS: i64 = WORKERS * 10;

/// Makes the tables. `ledger` has a row for each time that a transfer was carried out. The ids in `once` are unique.
pub const TABLES: &str = "
    DROP TABLE IF EXISTS accounts, ledger, once;
    CREATE TABLE accounts (id int PRIMARY KEY, balance bigint);
    INSERT INTO accounts SELECT id, 1000 FROM generate_series(0, 9) AS id;
    CREATE TABLE ledger (transfer bigint);
    CREATE TABLE once (transfer bigint PRIMARY KEY)";

/// Lists the transfers, each as often as it was carried out.
pub const LEDGER: &str = "SELECT transfer FROM ledger";

/// A transfer from one account to another.
#[derive(Clone, Debug)]
pub struct Transfer {
    /// The number of the transfer.
    pub id: i64,
    /// The account that gives.
    pub from: i32,
    /// The account that gets.
    pub to: i32,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    attempts: AtomicU32,
    commits: AtomicBool,
}

/// What a transfer reported.
#[derive(Debug)]
pub enum Outcome {
    /// It was carried out.
    Done,
    /// Nobody knows whether it was carried out.
    Unknown,
    /// It was not carried out.
    Failed(String),
}

/// A worker carries out one transfer after the other.
pub type Worker = Box<dyn FnMut(Transfer) -> Pin<Box<dyn Future<Output = Outcome> + Send>> + Send>;

/// Numbers of transfers.
#[derive(Debug, Default)]
pub struct Tally {
    /// Those that were reported as carried out.
    pub done: usize,
    /// Those whose outcome was reported as unknown.
    pub unknown: usize,
    /// Those that were reported as failed.
    pub failed: usize,
    /// The most attempts that one needed.
    pub most_attempts: u32,
}

impl Transfer {
    /// Creates the transfer with this number.
    ///
    /// # Panics
    ///
    /// If the number is negative.
    pub fn new(id: i64) -> Self {
        let account = |id: i64| i32::try_from(id % 10).unwrap();
        Self { id, from: account(id), to: account(id + 1 + id / 10 % 9), state: Arc::default() }
    }

    /// Notes that an attempt begins.
    pub fn begins(&self) {
        self.state.attempts.fetch_add(1, Ordering::SeqCst);
        self.state.commits.store(false, Ordering::SeqCst);
    }

    /// Notes that COMMIT is the next statement of the attempt.
    pub fn commits(&self) {
        self.state.commits.store(true, Ordering::SeqCst);
    }

    /// Returns the number of attempts.
    pub fn attempts(&self) -> u32 {
        self.state.attempts.load(Ordering::SeqCst)
    }
}

impl Outcome {
    /// Returns what this result reports.
    pub fn of<E: Error + 'static>(result: Result<(), TransactionError<E>>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(error) if error.is_outcome_unknown() => Self::Unknown,
            Err(error) => Self::Failed(format!("{error:#}")),
        }
    }
}

/// Returns how often the tests repeat what depends on chance: once, or as often as `RETRY_TEST_RUNS` says.
///
/// # Panics
///
/// If that is not a number.
pub fn runs() -> u32 {
    std::env::var("RETRY_TEST_RUNS").map_or(1, |runs| runs.parse().expect("RETRY_TEST_RUNS is a number"))
}

/// Carries out all transfers. After the first hundred, the server is stopped without a shutdown, and started again.
///
/// # Panics
///
/// If a worker panics or the server can't be restarted.
pub async fn transfer_all(worker: impl Fn() -> Worker) -> Vec<(Transfer, Outcome)> {
    let ended = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..WORKERS)
        .map(|number| {
            let (mut worker, ended) = (worker(), Arc::clone(&ended));
            tokio::spawn(async move {
                let mut transfers = Vec::new();
                for round in 0..TRANSFERS / WORKERS {
                    let transfer = Transfer::new(round * WORKERS + number);
                    let outcome = worker(transfer.clone()).await;
                    ended.fetch_add(1, Ordering::SeqCst);
                    transfers.push((transfer, outcome));
                }
                transfers
            })
        })
        .collect();
    while ended.load(Ordering::SeqCst) < 100 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::task::spawn_blocking(|| control_restarted(&["--mode=immediate", "restart"])).await.unwrap();
    let mut transfers = Vec::new();
    for worker in workers {
        transfers.extend(worker.await.unwrap());
    }
    transfers
}

/// Compares what the transfers reported with the ledger, and counts them.
///
/// # Panics
///
/// If a transfer was carried out twice, if a report is wrong, or if an outcome is unknown although COMMIT was not sent.
pub fn compare(transfers: &[(Transfer, Outcome)], ledger: &[i64]) -> Tally {
    let mut times = HashMap::<i64, usize>::new();
    for id in ledger {
        *times.entry(*id).or_default() += 1;
    }
    let mut tally = Tally::default();
    for (transfer, outcome) in transfers {
        match (outcome, times.get(&transfer.id).copied().unwrap_or(0)) {
            (Outcome::Done, 1) => tally.done += 1,
            (Outcome::Unknown, 0 | 1) if transfer.state.commits.load(Ordering::SeqCst) => tally.unknown += 1,
            (Outcome::Failed(_), 0) => tally.failed += 1,
            (_, times) => panic!("carried out {times} times, and reported as {outcome:?}: {transfer:?}"),
        }
        tally.most_attempts = tally.most_attempts.max(transfer.attempts());
    }
    tally
}
