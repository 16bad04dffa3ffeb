//! Settings of scopes that change while the map is in use.

use super::ScopedRetryStrategy;
use super::entries::Entry;
use crate::support::sync::{PoisonError, RwLock};
use std::sync::Arc;

/// Gives the strategy of a key its settings.
type Configure<K, S> = dyn Fn(&K, &S) + Send + Sync;

/// The settings that a scope was given, if there were any.
pub(super) type Given<K, S> = Option<Arc<Configure<K, S>>>;

/// The source of the settings of new scopes, if there is one.
pub(super) struct Settings<K, S>(RwLock<Given<K, S>>);

impl<K, S> Settings<K, S> {
    pub(super) const fn new() -> Self {
        Self(RwLock::new(None))
    }

    fn get(&self) -> Given<K, S> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Applies the current settings to an entry, and again if they change meanwhile. So an entry never keeps old settings: a
    /// change stores the settings before it looks for entries, and a new entry gets its settings once more when it is in the
    /// map.
    pub(super) fn give_to(&self, entry: &Entry<S, K>, mut given: Given<K, S>) -> Given<K, S> {
        loop {
            let settings = self.get();
            if settings.as_ref().map(Arc::as_ptr) == given.as_ref().map(Arc::as_ptr) {
                return given;
            }
            if let Some(settings) = &settings {
                settings(&entry.key, &entry.switched.strategy);
            }
            given = settings;
        }
    }
}

impl<K, S> ScopedRetryStrategy<K, S> {
    /// Changes the settings of all scopes: calls this function with each key of the map and its strategy, and later with each new one. It
    /// replaces the function of an earlier call. A strategy may be passed to it more than once.
    ///
    /// ```
    /// use retry_core::{ScopedRetryStrategy, StandardRetryStrategy};
    ///
    /// static TENANTS: ScopedRetryStrategy<String> =
    ///     ScopedRetryStrategy::new(StandardRetryStrategy::new);
    /// TENANTS.configure(|tenant, strategy| strategy.set_enabled(tenant != "noisy"));
    /// assert!(!TENANTS.scope("noisy").is_enabled());
    /// assert!(TENANTS.scope("acme").is_enabled());
    /// ```
    pub fn configure(&self, configure: impl Fn(&K, &S) + Send + Sync + 'static) {
        // The former settings are dropped without the lock, because they contain keys.
        let _former = self.settings.0.write().unwrap_or_else(PoisonError::into_inner).replace(Arc::new(configure));
        for entry in self.all() {
            self.settings.give_to(&entry, None);
        }
    }

    /// Calls a function with each key of the map and its strategy, until it returns an error.
    ///
    /// # Errors
    ///
    /// Returns the error of the function.
    pub fn try_for_each<E>(&self, mut check: impl FnMut(&K, &S) -> Result<(), E>) -> Result<(), E> {
        self.all().iter().try_for_each(|entry| check(&entry.key, &entry.switched.strategy))
    }

    fn all(&self) -> Vec<Arc<Entry<S, K>>> {
        self.read().all()
    }
}
