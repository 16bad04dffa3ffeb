//! The handles of metrics, which each thread keeps for a second.

use super::Series;
use crate::strategy::StrategyName;
use ::metrics::Counter;
use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant};

/// How long a thread keeps handles. A recorder may remove metrics that are idle, as that of `metrics-exporter-prometheus` does with
/// `idle_timeout`, and publishes nothing of what older handles count then.
const KEPT: Duration = Duration::from_secs(1);

/// The number of names whose handles are found by address.
const PLACES: usize = 64;
/// The number of other names from which on a thread drops handles that were kept for long: the names of scopes can be many.
const MANY_OTHERS: usize = 1_024;

thread_local! {
    /// It is taken out while it is used, so that the code of a recorder may use it, too.
    static HANDLES: Cell<Option<Box<Handles>>> = const { Cell::new(None) };
}

/// The names of an operation and its strategy.
pub(super) type Names = (&'static str, Option<StrategyName>);

/// The handles that a thread keeps.
struct Handles {
    /// By the addresses of their names.
    places: [Option<Box<Kept>>; PLACES],
    /// Those whose place is taken.
    others: HashMap<(usize, Names), Kept>,
    /// The number of them at which those that were kept for long are dropped. Afterwards, it is twice what is left, so a search for them
    /// comes after as many new names as it examines.
    many: usize,
}

/// The handles of an observer for an operation and its strategy. It keeps the names, so their addresses are those of no others.
struct Kept {
    observer: usize,
    names: Names,
    /// `None` without a clock.
    until: Option<Instant>,
    series: Series,
}

impl Kept {
    /// Returns whether it was kept for less than [`KEPT`]. Without a clock, it is kept on.
    #[inline]
    fn is_fresh(&self, now: Option<Instant>) -> bool {
        now.zip(self.until).is_none_or(|(now, until)| now < until)
    }

    #[inline]
    fn is_of(&self, observer: usize, operation: &'static str, strategy: Option<&StrategyName>) -> bool {
        let (known, of) = &self.names;
        self.observer == observer && std::ptr::eq(*known, operation) && is_same_text(of.as_ref(), strategy)
    }
}

impl Handles {
    #[cold]
    fn new() -> Box<Self> {
        Box::new(Self { places: [const { None }; PLACES], others: HashMap::new(), many: MANY_OTHERS })
    }

    /// Returns the handles of these names for an observer. They are registered if there are none, or if they were kept for long.
    #[cold]
    #[inline(never)]
    fn look_up(
        &mut self,
        observer: usize,
        (operation, strategy): (&'static str, Option<&StrategyName>),
        now: Option<Instant>,
        register: impl Fn(&Names) -> Series,
    ) -> &mut Series {
        let new = |names: Names| {
            let series = register(&names);
            Kept { observer, names, until: now.and_then(|now| now.checked_add(KEPT)), series }
        };
        let names = (operation, strategy.cloned());
        let place = &mut self.places[place_of(operation, strategy)];
        if place.as_ref().is_none_or(|kept| !kept.is_fresh(now) || kept.is_of(observer, operation, strategy)) {
            return &mut place.insert(Box::new(new(names))).series;
        }
        if self.others.len() >= self.many {
            self.others.retain(|_, kept| kept.is_fresh(now));
            self.many = self.others.len().saturating_mul(2).max(MANY_OTHERS);
        }
        match self.others.entry((observer, names.clone())) {
            Entry::Vacant(place) => &mut place.insert(new(names)).series,
            Entry::Occupied(place) => {
                let kept = place.into_mut();
                if !kept.is_fresh(now) {
                    *kept = new(names);
                }
                &mut kept.series
            }
        }
    }
}

/// Passes the handles of these names for an observer to `using`.
#[inline]
pub(super) fn with(
    observer: usize,
    (operation, strategy): (&'static str, Option<&StrategyName>),
    now: Option<Instant>,
    register: impl Fn(&Names) -> Series,
    using: impl FnOnce(&mut Series),
) {
    let count = |place: &Cell<Option<Box<Handles>>>| {
        let mut handles = place.take().unwrap_or_else(Handles::new);
        if let Some(kept) = &mut handles.places[place_of(operation, strategy)]
            && kept.is_of(observer, operation, strategy)
            && kept.is_fresh(now)
        {
            using(&mut kept.series);
        } else {
            using(handles.look_up(observer, (operation, strategy), now, register));
        }
        place.set(Some(handles));
    };
    // While the thread ends, nothing is counted.
    _ = HANDLES.try_with(count);
}

/// Returns the place for these names.
#[inline]
fn place_of(operation: &str, strategy: Option<&StrategyName>) -> usize {
    let strategy = strategy.map_or(0, |name| name.as_str().as_ptr().addr());
    // The multiplier of Fibonacci hashing: the upper half of the product depends on all bits of both addresses.
    let product =
        (operation.as_ptr().addr() as u64 ^ (strategy as u64).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((product >> 32) % PLACES as u64) as usize
}

/// Returns whether both are the same text in memory.
#[inline]
fn is_same_text(one: Option<&StrategyName>, other: Option<&StrategyName>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one.as_str(), other.as_str()),
        (None, None) => true,
        _ => false,
    }
}

/// The counters of a metric by the value of a label, which are registered on first use.
#[derive(Default)]
pub(super) struct Counters(Vec<(&'static str, Counter)>);

impl Counters {
    pub(super) fn increment(&mut self, value: &'static str, register: impl FnOnce() -> Counter) {
        // Mostly, the value is the same text in memory, and no bytes are compared.
        if let Some((_, counter)) = self.0.iter().find(|(known, _)| std::ptr::eq(*known, value) || *known == value) {
            return counter.increment(1);
        }
        let counter = register();
        counter.increment(1);
        self.0.push((value, counter));
    }
}
