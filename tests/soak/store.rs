//! The database: accounts in memory with optimistic transactions, which conflict, fail before the commit, or lose the answer of a
//! commit.

use crate::problem::{equal, lock};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use retry_core::{RetryInfo, TimedOut};
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::sleep;

const ACCOUNTS: usize = 12;

#[derive(Debug, RetryInfo, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("another transaction was faster")]
    #[retry(conflict)]
    Conflict,
    #[error("the store rejected the transaction")]
    #[retry(throttling, fault = "server")]
    Busy,
    #[error("the answer of the commit was lost")]
    #[retry(fault = "server", safe = "maybe")]
    Lost,
    #[error(transparent)]
    #[retry(transparent)]
    TimedOut(#[from] TimedOut),
}

/// The accounts: balances and versions.
pub(crate) struct Store {
    accounts: Mutex<[(i64, u64); ACCOUNTS]>,
    /// The commits of each operation.
    commits: Mutex<HashMap<u64, u32>>,
    random: Mutex<StdRng>,
}

impl Store {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            accounts: Mutex::new([(1_000, 0); ACCOUNTS]),
            commits: Mutex::default(),
            random: Mutex::new(StdRng::seed_from_u64(seed)),
        }
    }

    /// Makes one attempt of a transfer. It must not be committed twice.
    pub(crate) async fn transfer(&self, operation: u64) -> Result<(), StoreError> {
        let (from, to, pause, fault) = {
            let mut random = lock(&self.random);
            let account = |random: &mut StdRng| random.random_range(0..ACCOUNTS);
            (account(&mut random), account(&mut random), random.random_range(0..3), random.random_range(0..100_u32))
        };
        let read = *lock(&self.accounts);
        sleep(Duration::from_millis(pause)).await;
        match fault {
            0..5 => return Err(StoreError::Busy),
            5..7 => sleep(Duration::from_millis(500)).await,
            _ => {}
        }
        {
            let mut accounts = lock(&self.accounts);
            if accounts[from].1 != read[from].1 || accounts[to].1 != read[to].1 {
                return Err(StoreError::Conflict);
            }
            accounts[from] = (accounts[from].0 - 1, accounts[from].1 + 1);
            accounts[to] = (accounts[to].0 + 1, accounts[to].1 + 1);
        }
        *lock(&self.commits).entry(operation).or_default() += 1;
        if fault < 12 { Err(StoreError::Lost) } else { Ok(()) }
    }

    /// Returns how often the transfer of an operation was committed.
    pub(crate) fn commits_of(&self, operation: u64) -> u32 {
        lock(&self.commits).get(&operation).copied().unwrap_or_default()
    }

    /// Records a problem unless the balances add up, and the versions count each commit twice.
    pub(crate) fn check(&self) {
        let (accounts, commits) = (lock(&self.accounts), lock(&self.commits));
        equal("the sum of all balances", accounts.iter().map(|account| account.0).sum(), 1_000 * 12_i64);
        equal(
            "changes of accounts",
            accounts.iter().map(|account| account.1).sum(),
            2 * commits.values().map(|n| u64::from(*n)).sum::<u64>(),
        );
    }
}
