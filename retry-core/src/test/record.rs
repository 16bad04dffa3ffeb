//! What sessions record of operations.

use super::Operation;
use crate::support::session::{self, Key, Session, StateCopy, lock};
use crate::support::sync::Mutex;
use std::sync::Arc;

type Operations = StateCopy<Mutex<Vec<Operation>>>;

/// Each session has operations of its own.
static KEY: Key = Key::new();

/// Returns the operations that have begun in a session.
pub(super) fn operations(session: &Session) -> Vec<Operation> {
    let operations = session.copy_of(&KEY, || Mutex::new(Vec::new()));
    operations.map_or_else(Vec::new, |operations: Arc<Operations>| lock(&operations.state).clone())
}

/// The record of an operation.
#[derive(Debug)]
pub(crate) struct Record {
    operations: Arc<Operations>,
    index: usize,
}

impl Record {
    /// Begins the record of an operation, if the thread is in a session.
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

    pub(crate) fn update(&self, change: impl FnOnce(&mut Operation)) {
        if let Some(operation) = lock(&self.operations.state).get_mut(self.index) {
            change(operation);
        }
    }
}
