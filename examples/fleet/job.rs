//! The job of a process: tasks that copy objects, and come back later to those that could not be copied.

use crate::client::Client;
use crate::count::Counter;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task::JoinSet;

/// The pause of a task after it could not copy an object.
const PAUSE: Duration = Duration::from_secs(5);

/// The objects of a process.
#[derive(Debug)]
pub(crate) struct Job {
    left: Mutex<VecDeque<String>>,
    copied: Counter,
    failed: Counter,
}

impl Job {
    /// Creates the job to copy the objects of these keys.
    pub(crate) fn new(keys: Vec<String>) -> Self {
        Self { left: Mutex::new(keys.into()), copied: Counter::default(), failed: Counter::default() }
    }

    /// Copies all objects with this number of tasks.
    pub(crate) async fn run(self: &Arc<Self>, client: &Arc<Client>, tasks: usize) {
        let mut workers = JoinSet::new();
        for _ in 0..tasks {
            workers.spawn(Arc::clone(self).work(Arc::clone(client)));
        }
        while workers.join_next().await.is_some() {}
    }

    /// Runs one task until no object is left. An object that could not be copied goes to the end of the line.
    async fn work(self: Arc<Self>, client: Arc<Client>) {
        while let Some(key) = self.next() {
            if client.copy(&key).await.is_ok() {
                self.copied.add();
            } else {
                self.failed.add();
                self.left.lock().unwrap_or_else(PoisonError::into_inner).push_back(key);
                tokio::time::sleep(PAUSE).await;
            }
        }
    }

    fn next(&self) -> Option<String> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Returns the number of objects that were copied.
    pub(crate) fn copied(&self) -> u32 {
        self.copied.get()
    }

    /// Returns how often an object could not be copied.
    pub(crate) fn failed(&self) -> u32 {
        self.failed.get()
    }
}
