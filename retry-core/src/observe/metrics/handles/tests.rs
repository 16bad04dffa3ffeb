//! Tests of counters.

use super::Counters;
use ::metrics::Counter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

#[test]
fn each_value_has_its_counter_which_is_registered_once() {
    const VALUES: [&str; 20] =
        ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"];
    let counters = Counters::default();
    let counts = VALUES.map(|value| (value, Arc::new(AtomicU64::new(0))));
    let registered = AtomicU64::new(0);
    for turn in 1..=3 {
        for (value, count) in &counts {
            counters.increment(value, || {
                registered.fetch_add(1, Ordering::Relaxed);
                Counter::from_arc(Arc::clone(count))
            });
            assert_eq!(count.load(Ordering::Relaxed), turn, "{value}");
        }
    }
    assert_eq!(registered.load(Ordering::Relaxed), 20);
}
