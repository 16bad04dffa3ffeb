//! Handles of metrics by their names.

use crate::strategy::StrategyName;
use crate::support::sync::{PoisonError, RwLock};
use ::metrics::Counter;
use rapidhash::fast::GlobalState;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, OnceLock};

/// The number of names whose handles are found by address.
const PLACES: usize = 64;

/// The names of an operation and its strategy.
pub(super) type Names = (&'static str, Option<StrategyName>);

/// A place for names and their handles.
type Place<H> = OnceLock<(Names, Arc<H>)>;

/// The handles of each operation and strategy, which are registered on first use.
pub(super) struct Handles<H> {
    /// Handles by the addresses of their names. A place keeps its first names, so an address is that of no other name.
    places: [Place<H>; PLACES],
    /// All handles. Names are hashed as `metrics` hashes them, because std's hasher takes more instructions.
    all: LazyLock<RwLock<HashMap<Names, Arc<H>, GlobalState>>>,
}

impl<H> Handles<H> {
    pub(super) const fn new() -> Self {
        Self { places: [const { OnceLock::new() }; PLACES], all: LazyLock::new(RwLock::default) }
    }

    /// Passes the handles of these names to `using`.
    #[inline]
    pub(super) fn with<R>(
        &self,
        operation: &'static str,
        strategy: Option<&StrategyName>,
        register: impl FnOnce(&Names) -> H,
        using: impl FnOnce(&H) -> R,
    ) -> R {
        match self.find(operation, strategy) {
            Ok(handles) => using(handles),
            Err(place) => using(&self.look_up((operation, strategy), place, register)),
        }
    }

    /// Returns the handles of these names, or the place for them. They are found without hashing and without a lock if they are among the
    /// first ones that were looked up, and if the texts have the same addresses as then.
    #[inline]
    fn find(&self, operation: &'static str, strategy: Option<&StrategyName>) -> Result<&H, &Place<H>> {
        let place = &self.places[place_of(operation, strategy)];
        match place.get() {
            Some(((known, of), handles)) if std::ptr::eq(*known, operation) && is_same_text(of.as_ref(), strategy) => {
                Ok(handles)
            }
            _ => Err(place),
        }
    }

    /// Looks the handles up by name, and keeps them in this place if it is empty. The recorder is called without a lock, so two threads
    /// may register the same handles; for a recorder, both are the same.
    #[cold]
    fn look_up(
        &self,
        (operation, strategy): (&'static str, Option<&StrategyName>),
        place: &Place<H>,
        register: impl FnOnce(&Names) -> H,
    ) -> Arc<H> {
        let names = (operation, strategy.cloned());
        let known = self.all.read().unwrap_or_else(PoisonError::into_inner).get(&names).cloned();
        let handles = known.unwrap_or_else(|| {
            let handles = Arc::new(register(&names));
            // The handles that are replaced, if any, are dropped after the lock is released.
            let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
            let replaced = all.insert(names.clone(), Arc::clone(&handles));
            drop(all);
            drop(replaced);
            handles
        });
        _ = place.set((names, Arc::clone(&handles)));
        handles
    }
}

/// Returns the place for these names.
fn place_of(operation: &str, strategy: Option<&StrategyName>) -> usize {
    let strategy = strategy.map_or(0, |name| name.as_str().as_ptr().addr());
    // The multiplier of Fibonacci hashing: the upper half of the product depends on all bits of both addresses.
    let product =
        (operation.as_ptr().addr() as u64 ^ (strategy as u64).rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((product >> 32) % PLACES as u64) as usize
}

/// Returns whether both are the same text in memory.
fn is_same_text(one: Option<&StrategyName>, other: Option<&StrategyName>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => std::ptr::eq(one.as_str(), other.as_str()),
        (None, None) => true,
        _ => false,
    }
}

/// The counters of a metric by the value of a label, which are registered on first use.
///
/// A value is searched for from the first one that was used, which is the most frequent one: `ok` of the outcomes.
#[derive(Default)]
pub(super) struct Counters {
    places: [OnceLock<(&'static str, Counter)>; 8],
    /// For further values.
    more: OnceLock<Box<Self>>,
}

impl Counters {
    pub(super) fn increment(&self, value: &'static str, register: impl Fn() -> Counter) {
        for place in &self.places {
            // The recorder is called outside of the initialization, which other threads would wait for. If one of them was faster, its
            // counter stays.
            let registered = place.get().or_else(|| {
                _ = place.set((value, register()));
                place.get()
            });
            // Mostly, the value is the same text in memory, and no bytes are compared.
            if let Some((known, counter)) = registered
                && (std::ptr::eq(*known, value) || *known == value)
            {
                return counter.increment(1);
            }
        }
        self.more.get_or_init(Box::default).increment(value, register);
    }
}

#[cfg(test)]
mod tests;
