//! The entries of the map and their eviction. All of this module runs under the lock, so it never calls the user's
//! code.

use crate::strategy::Switched;
use crate::support::sync::{AtomicU64, Ordering};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Arc, Weak};

/// A key and its strategy. The key is unsized in handles, which don't name its type.
pub(super) struct Entry<S, K: ?Sized = dyn Send + Sync> {
    pub(super) switched: Switched<S>,
    /// The number of the last use.
    pub(super) last_use: AtomicU64,
    pub(super) key: K,
}

/// A map by hashes.
type ByHash<V> = HashMap<u64, V, BuildHasherDefault<IdentityHasher>>;

/// The state that the lock protects.
pub(super) struct Entries<K, S> {
    /// The entries by the hashes of their keys. Two entries only have the same hash by bad luck or because of a bad
    /// `Hash`.
    by_hash: ByHash<Vec<Arc<Entry<S, K>>>>,
    len: usize,
    /// The next entries to evict, as pairs of last use and hash, in reverse order: the last pair is evicted first.
    ///
    /// The list has the entries that were not in use when it was created. Entries that were inserted, looked up or in use since
    /// then have a later use than all of them. Creating a list examines all entries, and the list then serves one eviction or use
    /// for each of its elements.
    candidates: Vec<(u64, u64)>,
    /// The number of new keys to admit without eviction before the next list, because the last list was too short to be
    /// worth its cost.
    unlisted_inserts: usize,
}

/// A list of candidates is worth its cost if it has at least one entry for each `WORTHWHILE_PART` entries.
const WORTHWHILE_PART: usize = 64;

impl<K, S> Entries<K, S> {
    pub(super) const fn new() -> Self {
        Self {
            by_hash: HashMap::with_hasher(BuildHasherDefault::new()),
            len: 0,
            candidates: Vec::new(),
            unlisted_inserts: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn all(&self) -> Vec<Arc<Entry<S, K>>> {
        self.by_hash.values().flatten().cloned().collect()
    }

    /// Returns an entry with this hash that is not one of `others`.
    pub(super) fn find(&self, hash: u64, others: &[Weak<Entry<S, K>>]) -> Option<Arc<Entry<S, K>>> {
        let known = |entry: &Arc<_>| others.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(entry)));
        self.by_hash.get(&hash)?.iter().find(|entry| !known(entry)).cloned()
    }

    pub(super) fn insert(&mut self, hash: u64, entry: Arc<Entry<S, K>>) {
        self.by_hash.entry(hash).or_insert_with(|| Vec::with_capacity(1)).push(entry);
        self.len += 1;
    }

    /// Removes unused entries until there are at most `max_scopes`, the least recently used first, and returns them.
    pub(super) fn evict(&mut self, max_scopes: usize) -> Vec<Arc<Entry<S, K>>> {
        let mut evicted = Vec::new();
        while self.len > max_scopes {
            if let Some((last_use, hash)) = self.candidates.pop() {
                evicted.extend(self.remove(last_use, hash));
            } else if self.unlisted_inserts > 0 {
                self.unlisted_inserts -= 1;
                break;
            } else {
                self.list_candidates();
                if self.candidates.is_empty() {
                    break;
                }
            }
        }
        evicted
    }

    fn list_candidates(&mut self) {
        for (hash, entries) in &self.by_hash {
            let unused = entries.iter().filter(|entry| !is_in_use(entry));
            self.candidates.extend(unused.map(|entry| (entry.last_use.load(Ordering::Relaxed), *hash)));
        }
        self.candidates.sort_unstable_by_key(|candidate| Reverse(*candidate));
        self.unlisted_inserts = (self.len / WORTHWHILE_PART).saturating_sub(self.candidates.len());
    }

    /// Removes the entry with this number of its last use, unless it is in use or was used since.
    fn remove(&mut self, last_use: u64, hash: u64) -> Option<Arc<Entry<S, K>>> {
        let entries = self.by_hash.get_mut(&hash)?;
        let is_unused =
            |entry: &Arc<Entry<S, K>>| !is_in_use(entry) && entry.last_use.load(Ordering::Relaxed) == last_use;
        let at = entries.iter().position(is_unused)?;
        let entry = entries.swap_remove(at);
        if entries.is_empty() {
            self.by_hash.remove(&hash);
        }
        self.len -= 1;
        Some(entry)
    }
}

/// Returns whether there are handles to the entry.
///
/// Under the write lock and after [`Recent`](super::recent::Recent) was cleared, `false` is reliable, although the count
/// is read with relaxed ordering. An entry without handles gets its first handle from the map, under the read lock, or
/// from a group of `Recent`, under its lock. Everything that happened under these locks is visible here, because the
/// write lock was taken and the lock of each group was taken after that. Cloning a handle requires a handle, and so does
/// putting an entry into a group.
///
/// A handle that another thread has just dropped may still be counted; then another entry is evicted instead. The last
/// use by such a handle may not be visible yet; then the entry is evicted too early, but never while it is in use.
fn is_in_use<T>(entry: &Arc<T>) -> bool {
    Arc::strong_count(entry) > 1
}

/// An identity hasher, because the keys of the map are hashes already.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
    /// A key is a `u64`, which writes its eight bytes at once.
    fn write(&mut self, bytes: &[u8]) {
        self.0 = bytes.try_into().map_or(self.0, u64::from_ne_bytes);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests;
