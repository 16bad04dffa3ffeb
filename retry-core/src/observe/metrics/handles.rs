//! Handles of metrics by their names.

use crate::support::sync::{PoisonError, RwLock};
use ::metrics::Counter;
use rapidhash::fast::GlobalState;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, LazyLock, OnceLock};

/// The handles of each operation and strategy, which are registered on first use. Names are hashed as `metrics` hashes them,
/// because std's hasher takes more instructions.
pub(super) struct Handles<K, H>(LazyLock<RwLock<HashMap<K, Arc<H>, GlobalState>>>);

impl<K: Eq + Hash, H> Handles<K, H> {
    pub(super) const fn new() -> Self {
        Self(LazyLock::new(RwLock::default))
    }

    /// Returns the handles of a key. The recorder is called without a lock, so two threads may register the same handles;
    /// for a recorder, both are the same.
    pub(super) fn get(&self, key: K, register: impl FnOnce(&K) -> H) -> Arc<H> {
        if let Some(handles) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Arc::clone(handles);
        }
        let handles = Arc::new(register(&key));
        // The handles that are replaced, if any, are dropped after the lock is released.
        let replaced = self.0.write().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&handles));
        drop(replaced);
        handles
    }
}

/// The counters of a metric by the value of a label, which are registered on first use.
///
/// A value is searched for from the first one that was used, which is the most frequent one: `ok` of the outcomes.
#[derive(Default)]
pub(super) struct Counters {
    places: [OnceLock<(&'static str, Counter)>; 8],
    /// For further values.
    more: OnceLock<Box<Self>>,
}

impl Counters {
    pub(super) fn increment(&self, value: &'static str, register: impl Fn() -> Counter) {
        for place in &self.places {
            if place.get().is_none() {
                // The recorder is called outside of the initialization, which other threads would wait for. If one of them was faster,
                // its counter stays.
                _ = place.set((value, register()));
            }
            if let Some((known, counter)) = place.get()
                && *known == value
            {
                return counter.increment(1);
            }
        }
        self.more.get_or_init(Box::default).increment(value, register);
    }
}

#[cfg(test)]
mod tests;
