//! A counter for concurrent tasks.

use std::sync::atomic::{AtomicU32, Ordering};

/// A counter that only increases. Relaxed ordering suffices, because no other memory is published through it.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU32);

impl Counter {
    /// Adds one and returns the previous count.
    pub(crate) fn add(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns the count.
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}
