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

/// Entries with the hashes of their keys, each in the slot that its hash determines.
type Slots<S, K> = [Option<(u64, Arc<Entry<S, K>>)>; SLOTS];

impl<S, K> Recent<S, K> {
    pub(super) const fn new() -> Self {
        Self([const { Group(Mutex::new([const { None }; SLOTS])) }; GROUPS])
    }

    /// Returns an entry with this hash that was looked up lately. Its key must still be compared.
    #[inline]
    pub(super) fn find(&self, hash: u64) -> Option<Arc<Entry<S, K>>> {
        let slots = self.group().0.try_lock().ok()?;
        match &slots[slot(hash)] {
            Some((known, entry)) if *known == hash => Some(Arc::clone(entry)),
            _ => None,
        }
    }

    /// Remembers an entry of the map. The caller has a handle to it, so that it is not evicted meanwhile.
    pub(super) fn remember(&self, hash: u64, entry: &Arc<Entry<S, K>>) {
        // The former entry is dropped after the lock is released.
        let _former = match self.group().0.try_lock() {
            Ok(mut slots) => slots[slot(hash)].replace((hash, Arc::clone(entry))),
            Err(_) => None,
        };
    }

    /// Forgets all entries. It drops no entry itself, because all of them are in the map.
    pub(super) fn clear(&self) {
        for group in &self.0 {
            *group.0.lock().unwrap_or_else(PoisonError::into_inner) = Slots::default();
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
