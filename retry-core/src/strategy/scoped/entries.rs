//! The entries of the map, and who goes when there are too many. Nothing in here calls the user's code: all of it runs
//! under the lock.

use crate::strategy::Switched;
use crate::support::sync::{AtomicU64, Ordering};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Weak};

/// A key and its strategy. Handles don't know the type of the key.
pub(super) struct Entry<S, K: ?Sized = dyn Send + Sync> {
    pub(super) switched: Switched<S>,
    /// The number of its last use.
    pub(super) last_use: AtomicU64,
    pub(super) key: K,
}

/// What the lock protects.
pub(super) struct Entries<K, S> {
    /// By the hashes of their keys. More than one under a hash is a matter of bad luck, or of a bad `Hash`.
    by_hash: HashMap<u64, Vec<Arc<Entry<S, K>>>, Unhashed>,
    len: usize,
    /// Who goes next, as (last use, hash), the last of them first: those that were not in use when the list was made.
    /// Entries that came or were used since then were used later than all on it, so the order is exact. To make a list
    /// is to look at all entries, and then it serves for as many evictions or uses as it is long.
    candidates: Vec<(u64, u64)>,
    /// How many new keys to let in before the next list, because the last one was too short to pay for itself.
    unlisted_inserts: usize,
}

/// A list of candidates pays for itself if it has at least this part of all entries.
const WORTHWHILE_PART: usize = 64;

impl<K, S> Entries<K, S> {
    pub(super) const fn new() -> Self {
        Self { by_hash: HashMap::with_hasher(Unhashed), len: 0, candidates: Vec::new(), unlisted_inserts: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// An entry with this hash that is none of the others.
    pub(super) fn find(&self, hash: u64, others: &[Weak<Entry<S, K>>]) -> Option<Arc<Entry<S, K>>> {
        let known = |entry: &Arc<_>| others.iter().any(|other| std::ptr::eq(other.as_ptr(), Arc::as_ptr(entry)));
        self.by_hash.get(&hash)?.iter().find(|entry| !known(entry)).cloned()
    }

    pub(super) fn insert(&mut self, hash: u64, entry: Arc<Entry<S, K>>) {
        self.by_hash.entry(hash).or_insert_with(|| Vec::with_capacity(1)).push(entry);
        self.len += 1;
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Entry<S, K>> {
        self.by_hash.values().flatten().map(|entry| &**entry)
    }

    /// Takes out what is too many, the least recently used first.
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

    /// The entry that was used last at this number, unless it is in use or was used since.
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

/// Whether anybody but the map has the entry.
///
/// Asked under the write lock, the answer no is reliable, although the count is read in relaxed order: only the map
/// clones an entry that nobody has, under the read lock, and what happened under that one is seen under this one. And
/// who clones a handle has one. (A handle that was just dropped on another thread may still count, or its last use not
/// yet be seen: then another entry goes, or this one goes early, but never while it is in use.)
fn is_in_use<T>(entry: &Arc<T>) -> bool {
    Arc::strong_count(entry) > 1
}

/// Hashes hashes: to themselves.
#[derive(Clone, Copy, Default)]
struct Unhashed;

impl BuildHasher for Unhashed {
    type Hasher = Itself;

    fn build_hasher(&self) -> Itself {
        Itself(0)
    }
}

struct Itself(u64);

impl Hasher for Itself {
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn write(&mut self, bytes: &[u8]) {
        // A `u64` comes by the other way.
        self.0 = bytes.iter().fold(self.0, |hash, byte| hash.rotate_left(8) ^ u64::from(*byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
