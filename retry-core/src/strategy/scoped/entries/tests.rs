//! What the map stores, which handles do not show.

use super::super::tests::entry;
use super::Entries;
use crate::strategy::StandardRetryStrategy;
use std::hash::BuildHasher;

#[test]
fn an_evicted_key_leaves_nothing_behind() {
    let mut entries = Entries::new();
    for key in 1..=100 {
        // Two keys have the same hash.
        entries.insert(key / 2, entry(key));
    }
    assert_eq!(entries.by_hash.len(), 51);
    assert_eq!(entries.evict(2).len(), 98);
    assert_eq!((entries.len(), entries.by_hash.len()), (2, 2));
    assert_eq!(entries.evict(0).len(), 2);
    assert_eq!((entries.len(), entries.by_hash.len()), (0, 0));
}

#[test]
fn a_key_has_room_for_no_other_one() {
    let mut entries = Entries::new();
    entries.insert(7, entry(7));
    assert_eq!(entries.by_hash[&7].capacity(), 1);
}

#[test]
fn a_hash_is_not_hashed_again() {
    let entries = Entries::<u64, StandardRetryStrategy>::new();
    for hash in [0, 1, 1 << 40, u64::MAX] {
        assert_eq!(entries.by_hash.hasher().hash_one(hash), hash);
    }
}
