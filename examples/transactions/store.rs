//! A small in-memory store with optimistic transactions. The first commit wins, and every transaction that had read
//! what the winner changed fails with a conflict.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// The balances of accounts. Each account has a version that every write increments.
#[derive(Debug, Default)]
pub(crate) struct Store {
    accounts: Mutex<HashMap<&'static str, Account>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    balance: i64,
    version: u64,
}

/// The reads and pending writes of a transaction. Other transactions see the writes only after the commit.
#[derive(Debug)]
pub(crate) struct Transaction<'s> {
    store: &'s Store,
    read: HashMap<&'static str, Account>,
    written: HashMap<&'static str, i64>,
}

/// The error of a commit after another transaction changed an account that this one had read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict;

impl Store {
    /// Creates a store with these accounts and balances.
    pub(crate) fn new(accounts: impl IntoIterator<Item = (&'static str, i64)>) -> Self {
        let accounts = accounts.into_iter().map(|(name, balance)| (name, Account { balance, version: 0 }));
        Self { accounts: Mutex::new(accounts.collect()) }
    }

    /// Begins a transaction.
    pub(crate) fn begin(&self) -> Transaction<'_> {
        Transaction { store: self, read: HashMap::new(), written: HashMap::new() }
    }

    /// Returns the balance of an account, which is 0 if nothing was ever written to it.
    pub(crate) fn balance(&self, name: &'static str) -> i64 {
        self.account(name).balance
    }

    fn account(&self, name: &'static str) -> Account {
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.get(name).copied().unwrap_or_default()
    }
}

impl Transaction<'_> {
    /// Reads a balance.
    pub(crate) fn read(&mut self, name: &'static str) -> i64 {
        if let Some(balance) = self.written.get(name) {
            return *balance;
        }
        self.read.entry(name).or_insert_with(|| self.store.account(name)).balance
    }

    /// Writes a balance.
    pub(crate) fn write(&mut self, name: &'static str, balance: i64) {
        self.written.insert(name, balance);
    }

    /// Applies all writes atomically, if no account that was read has changed.
    ///
    /// # Errors
    ///
    /// Returns [`Conflict`] if another transaction changed an account that this one had read. Nothing is written then.
    pub(crate) fn commit(self) -> Result<(), Conflict> {
        let mut accounts = self.store.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let current = |name| accounts.get(name).copied().unwrap_or_default().version;
        if self.read.iter().any(|(name, account)| current(*name) != account.version) {
            return Err(Conflict);
        }
        for (name, balance) in self.written {
            let account = accounts.entry(name).or_default();
            *account = Account { balance, version: account.version + 1 };
        }
        Ok(())
    }
}
