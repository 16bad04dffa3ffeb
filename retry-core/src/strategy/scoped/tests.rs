//! What a lookup saves, which handles do not show.

use super::entries::Entry;
use super::recent::{PLACES, Recent};
use super::{BuildHasher, HASH_SEED, Ordering, ScopedRetryStrategy};
use crate::strategy::{StandardRetryStrategy, Switch, Switched};
use crate::support::sync::AtomicU64;
use std::sync::Arc;

/// An entry of the map. The number of its last use is its key.
pub(super) fn entry(key: u64) -> Arc<Entry<StandardRetryStrategy, u64>> {
    let switched = Switched { switch: Arc::new(Switch::new()), name: None, strategy: StandardRetryStrategy::new() };
    Arc::new(Entry { switched, last_use: AtomicU64::new(key), key })
}

#[test]
fn only_a_use_of_a_key_that_was_not_used_last_writes_a_number() {
    let scopes = ScopedRetryStrategy::<u64>::new(StandardRetryStrategy::new);
    let latest_use = || scopes.uses.load(Ordering::Relaxed);
    scopes.scope(&1);
    let first = latest_use();
    for (key, number) in [(1, 0), (1, 0), (2, 1), (2, 1), (1, 2), (1, 2)] {
        scopes.scope(&key);
        assert_eq!(latest_use(), first + number, "key {key}");
    }
}

#[test]
fn only_a_new_key_beyond_the_bound_makes_threads_forget_the_others() {
    let scopes = ScopedRetryStrategy::<u64>::new(StandardRetryStrategy::new).max_scopes(2);
    let is_remembered = |key: u64| scopes.recent.find(HASH_SEED.hash_one(key)).is_some();
    // A key is remembered when it is found, so not the first time.
    for (key, is_known) in [(1, false), (1, true), (2, true), (3, false)] {
        scopes.scope(&key);
        assert_eq!(is_remembered(1), is_known, "after {key}");
    }
}

#[test]
fn a_key_is_remembered_if_it_is_among_the_latest() {
    for (others, is_remembered) in [(PLACES, true), (PLACES + 1, false)] {
        let scopes = ScopedRetryStrategy::<u64>::new(StandardRetryStrategy::new);
        for key in 0..=others {
            scopes.scope(&key);
        }
        scopes.scope(&0);
        assert_eq!(scopes.recent.find(HASH_SEED.hash_one(0_u64)).is_some(), is_remembered, "{others} others");
    }
}

#[test]
fn a_thread_remembers_a_key_for_each_of_four_slots() {
    let (recent, entries): (_, Vec<_>) = (Recent::new(), (0..4).map(entry).collect());
    for entry in &entries {
        recent.remember(entry.key, entry);
    }
    for entry in &entries {
        assert!(recent.find(entry.key).is_some_and(|found| Arc::ptr_eq(&found, entry)), "key {}", entry.key);
    }
    recent.remember(4, &entry(4));
    assert!(recent.find(4).is_some());
    assert!(recent.find(0).is_none(), "the slot has another key");
}
