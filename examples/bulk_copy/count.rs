//! Counting from many tasks at once.

use std::sync::atomic::{AtomicU32, Ordering};

/// A number that only goes up. It stands for itself alone: no other memory is published through it, so relaxed order
/// suffices.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU32);

impl Counter {
    /// Counts one more, and returns how many there were before.
    pub(crate) fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// How many were counted.
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
