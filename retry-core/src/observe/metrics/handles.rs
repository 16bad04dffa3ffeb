//! Handles of metrics by their names.

use crate::support::sync::{PoisonError, RwLock};
use ::metrics::Counter;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// The handles of each operation and strategy, which are registered on first use.
pub(super) struct Handles<K, H>(RwLock<HashMap<K, Arc<H>, BuildHasherDefault<NameHasher>>>);

impl<K: Eq + Hash, H> Handles<K, H> {
    pub(super) const fn new() -> Self {
        Self(RwLock::new(HashMap::with_hasher(BuildHasherDefault::new())))
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

/// The counters of a metric by the value of a label with at most `N` values, which are registered on first use.
///
/// A value is searched for from the first one that was used, which is the most frequent one: `ok` of the outcomes.
pub(super) struct Counters<const N: usize>([OnceLock<(&'static str, Counter)>; N]);

impl<const N: usize> Counters<N> {
    pub(super) const fn new() -> Self {
        Self([const { OnceLock::new() }; N])
    }

    pub(super) fn increment(&self, value: &'static str, register: impl Fn() -> Counter) {
        for place in &self.0 {
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
        register().increment(1);
    }
}

/// A hasher for the names of operations and strategies, which takes a fourth of the instructions that std's hasher takes.
///
/// Names that are chosen to collide make look-ups slow. But each name stays in memory, so their number must be bounded anyway, and recorders
/// have the same weakness.
#[derive(Default)]
pub(super) struct NameHasher(u64);

/// 2^64 divided by the golden ratio.
const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl NameHasher {
    /// Multiplies, and adds the upper half of the product to the lower one, so that each bit changes the lowest and the highest ones.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "it takes the halves of a product")]
    const fn add(&mut self, word: u64) {
        let product = (self.0 ^ word) as u128 * ODD as u128;
        self.0 = (product as u64).wrapping_add((product >> u64::BITS) as u64);
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for word in bytes.as_chunks().0 {
            self.add(u64::from_le_bytes(*word));
        }
        // The last eight bytes, some of them again: that takes fewer steps than the bytes that remain.
        let last = match bytes.last_chunk() {
            Some(last) => u64::from_le_bytes(*last),
            None => bytes.iter().fold(0, |rest, byte| rest << u8::BITS | u64::from(*byte)),
        };
        self.add(last ^ bytes.len() as u64);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.add(byte.into());
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests;
