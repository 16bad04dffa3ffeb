//! The records of a session's operations.

use super::Operation;
use crate::support::session::{self, Key, Session, StateCopy, lock};
use crate::support::sync::Mutex;
use std::sync::Arc;

type Operations = StateCopy<Mutex<Vec<Operation>>>;

/// The key of the records. Each session has its own copy of them.
static KEY: Key = Key::new();

/// Returns the records of the operations that have begun in a session.
pub(super) fn operations(session: &Session) -> Vec<Operation> {
    let operations = session.copy_of(&KEY, || Mutex::new(Vec::new()));
    operations.map_or_else(Vec::new, |operations: Arc<Operations>| lock(&operations.state).clone())
}

/// Returns the index and the attempt of each operation of a session that has begun and not ended.
pub(super) fn running(session: &Session) -> Vec<(usize, u32)> {
    let operations = session.copy_of(&KEY, || Mutex::new(Vec::new()));
    let of = |operations: &[Operation]| {
        let running = operations.iter().enumerate().filter(|(_, operation)| !operation.has_ended);
        running.map(|(index, operation)| (index, operation.attempts)).collect()
    };
    operations.map_or_else(Vec::new, |operations: Arc<Operations>| of(&lock(&operations.state)))
}

/// A reference to the record of an operation, through which the operation updates it.
#[derive(Debug)]
pub(crate) struct Record {
    operations: Arc<Operations>,
    index: usize,
}

impl Record {
    /// Begins the record of an operation, or returns `None` if this thread is in no session.
    pub(crate) fn begin(name: impl FnOnce() -> &'static str) -> Option<Self> {
        let operations: Arc<Operations> = session::copy_of(&KEY, || Mutex::new(Vec::new()))?;
        let name = name();
        let index = {
            let mut operations = lock(&operations.state);
            operations.push(Operation::new(name));
            operations.len() - 1
        };
        Some(Self { operations, index })
    }

    /// Changes the record.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Operation)) {
        if let Some(operation) = lock(&self.operations.state).get_mut(self.index) {
            change(operation);
        }
    }
}
