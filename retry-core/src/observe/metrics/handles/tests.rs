//! Tests of counters.

use super::Counters;
use ::metrics::Counter;
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
