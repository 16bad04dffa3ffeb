//! Tests of counters, and of handles by names.

use super::{Counters, Handles, Names, PLACES};
use crate::strategy::StrategyName;
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

#[test]
fn handles_are_those_of_their_names_wherever_the_texts_are() {
    let handles = Handles::<String>::new();
    // Operations and strategies of the same text at other addresses, more of them than there are places.
    let names = |number: usize| -> (&'static str, Option<StrategyName>) {
        let strategy = (!number.is_multiple_of(3)).then(|| StrategyName::from(format!("strategy {number}")));
        (Box::leak(format!("operation {number}").into_boxed_str()), strategy)
    };
    let all: Vec<_> = (0..2 * PLACES).map(names).collect();
    let other_addresses: Vec<_> = (0..2 * PLACES).map(names).collect();
    let registered = AtomicU64::new(0);
    let found_here = [&all, &all, &other_addresses].map(|texts| {
        let found = texts.iter().enumerate().filter(|(number, (operation, strategy))| {
            let is_found = handles.find(operation, strategy.as_ref()).is_ok();
            let register = |_: &Names| {
                registered.fetch_add(1, Ordering::Relaxed);
                format!("handles {number}")
            };
            handles.with(operation, strategy.as_ref(), register, |found| {
                assert_eq!(*found, format!("handles {number}"));
            });
            is_found
        });
        found.count()
    });
    assert_eq!((found_here[0], found_here[2]), (0, 0), "new names, and other addresses");
    assert!((1..=PLACES).contains(&found_here[1]), "{found_here:?}");
    assert_eq!(registered.load(Ordering::Relaxed), 2 * PLACES as u64);
}
