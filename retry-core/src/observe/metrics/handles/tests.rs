//! Tests of handles and of the hashes of names.

use super::{Counters, NameHasher};
use ::metrics::Counter;
use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn each_value_has_its_counter_even_if_there_are_more_values_than_places() {
    let counters = Counters::<2>::new();
    let counts = ["ok", "max_attempts", "stopped"].map(|value| (value, Arc::new(AtomicU64::new(0))));
    for turn in 1..=3 {
        for (value, count) in &counts {
            counters.increment(value, || Counter::from_arc(Arc::clone(count)));
            assert_eq!(count.load(Ordering::Relaxed), turn, "{value}");
        }
    }
}

#[test]
fn a_counter_that_has_a_place_is_registered_once() {
    let counters = Counters::<2>::new();
    let registered = AtomicU64::new(0);
    for value in ["ok", "stopped", "ok", "stopped"] {
        counters.increment(value, || {
            registered.fetch_add(1, Ordering::Relaxed);
            Counter::noop()
        });
    }
    assert_eq!(registered.load(Ordering::Relaxed), 2);
}

#[test]
fn similar_names_have_hashes_that_differ_in_the_bits_that_a_map_uses() {
    const NAMES: usize = 1 << 12;
    let build = BuildHasherDefault::<NameHasher>::default();
    // Names that differ in the first bytes, in the middle, in the last bytes, and in their length.
    let names = |make: fn(usize) -> String| (0..NAMES).map(make).collect::<Vec<_>>();
    for names in [
        names(|n| format!("{n}_shop::orders::put")),
        names(|n| format!("shop::orders{n}::put")),
        names(|n| format!("shop::orders::put{n}")),
        names(|n| format!("f{n}")),
        names(|n| "a".repeat(n)),
    ] {
        let hashes: Vec<_> = names.iter().map(|name| build.hash_one((name.as_str(), Some("store")))).collect();
        assert_eq!(hashes.iter().collect::<HashSet<_>>().len(), NAMES, "{}", names[1]);
        // A map takes a place from the lowest bits, and compares the highest seven. Of random hashes, 63 % of the places are used.
        let lowest: HashSet<_> = hashes.iter().map(|hash| hash % NAMES as u64).collect();
        assert!(lowest.len() > NAMES / 2, "{}: {} places", names[1], lowest.len());
        let highest: HashSet<_> = hashes.iter().map(|hash| hash >> (u64::BITS - 7)).collect();
        assert_eq!(highest.len(), 1 << 7, "{}", names[1]);
    }
}
