//! The latest lookups of each thread. With them, threads that look up the same keys need no common lock.

use super::entries::Entry;
use crate::support::sync::{Mutex, PoisonError, thread_number};
use std::sync::Arc;

/// The number of groups that threads are spread over.
#[cfg(not(loom))]
const GROUPS: usize = 16;
#[cfg(loom)]
const GROUPS: usize = 2;
/// The number of keys that a group remembers.
const SLOTS: usize = 4;
/// The number of keys that all groups remember. A key is remembered if it is looked up again before this many others, so that rare keys
/// do not displace frequent ones.
pub(super) const PLACES: u64 = (GROUPS * SLOTS) as u64;

/// Entries that threads have looked up lately. All of them are in the map as well.
///
/// A lock that all threads take is slow even if it is taken for reading, because each of them writes to it. Here each
/// thread has its own lock, unless there are more threads than groups. No thread waits for the lock of its group:
/// if it is taken, the thread looks the key up in the map.
///
/// The references in here do not mean that an entry is in use. So they are [cleared](Recent::clear) before the map
/// examines which entries are.
pub(super) struct Recent<S, K>([Group<S, K>; GROUPS]);

/// The alignment gives each lock its own cache line.
#[repr(align(64))]
struct Group<S, K>(Mutex<Slots<S, K>>);

/// An entry with the hash of its key.
type Hashed<S, K> = (u64, Arc<Entry<S, K>>);

/// Entries, each in the slot that its hash determines.
struct Slots<S, K> {
    entries: [Option<Hashed<S, K>>; SLOTS],
    /// The slot of the latest lookup.
    latest: usize,
    /// Whether the latest lookup found an entry, in the slot of the lookup before it.
    is_repeated: bool,
}

impl<S, K> Slots<S, K> {
    const fn new() -> Self {
        Self { entries: [const { None }; SLOTS], latest: 0, is_repeated: false }
    }
}

impl<S, K> Recent<S, K> {
    pub(super) const fn new() -> Self {
        Self([const { Group(Mutex::new(Slots::new())) }; GROUPS])
    }

    /// Returns the entry of the latest lookup if that lookup repeated the one before. The next one is probably for the same key, and
    /// comparing keys takes less time than hashing one. A thread that alternates between keys gets nothing, because it would compare in
    /// vain.
    #[inline]
    pub(super) fn repeated(&self) -> Option<Arc<Entry<S, K>>> {
        let slots = self.group().0.try_lock().ok()?;
        if !slots.is_repeated {
            return None;
        }
        slots.entries.get(slots.latest)?.as_ref().map(|(_, entry)| Arc::clone(entry))
    }

    /// Returns an entry with this hash that was looked up lately. Its key must still be compared.
    #[inline]
    pub(super) fn find(&self, hash: u64) -> Option<Arc<Entry<S, K>>> {
        let mut slots = self.group().0.try_lock().ok()?;
        let slot = slot(hash);
        let found = match &slots.entries[slot] {
            Some((known, entry)) if *known == hash => Some(Arc::clone(entry)),
            _ => None,
        };
        slots.is_repeated = found.is_some() && slots.latest == slot;
        slots.latest = slot;
        found
    }

    /// Remembers an entry of the map. The caller has a handle to it, so that it is not evicted meanwhile.
    pub(super) fn remember(&self, hash: u64, entry: &Arc<Entry<S, K>>) {
        // The former entry is dropped after the lock is released.
        let _former = match self.group().0.try_lock() {
            Ok(mut slots) => slots.entries[slot(hash)].replace((hash, Arc::clone(entry))),
            Err(_) => None,
        };
    }

    /// Forgets all entries. It drops no entry itself, because all of them are in the map.
    pub(super) fn clear(&self) {
        for group in &self.0 {
            *group.0.lock().unwrap_or_else(PoisonError::into_inner) = Slots::new();
        }
    }

    #[inline]
    fn group(&self) -> &Group<S, K> {
        &self.0[thread_number() % GROUPS]
    }
}

/// Returns the slot of a hash.
#[expect(clippy::cast_possible_truncation, reason = "the remainder is small")]
const fn slot(hash: u64) -> usize {
    (hash % SLOTS as u64) as usize
}
