//! Settings of scopes that change while the map is in use.

use super::ScopedRetryStrategy;
use super::entries::Entry;
use crate::support::sync::{PoisonError, RwLock};
use std::sync::Arc;

/// Gives the strategy of a key its settings.
pub(crate) type Configure<K, S> = dyn Fn(&K, &S) + Send + Sync;

/// The settings that a scope was given, if there were any.
pub(super) type Given<K, S> = Option<Arc<Configure<K, S>>>;

/// What gives new scopes their settings, if anything does.
pub(super) struct Settings<K, S>(RwLock<Given<K, S>>);

impl<K, S> Settings<K, S> {
    pub(super) const fn new() -> Self {
        Self(RwLock::new(None))
    }

    fn get(&self) -> Given<K, S> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives an entry the settings of the moment, and again if they change meanwhile. So it never keeps old ones: whoever
    /// changes the settings does so before it looks for entries, and a new entry comes here once more when it is in the map.
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
    /// Changes the settings of all scopes, and of those to come.
    pub(crate) fn configure(&self, configure: Arc<Configure<K, S>>) {
        let former = self.settings.0.write().unwrap_or_else(PoisonError::into_inner).replace(configure);
        // The former settings are dropped without the lock, because they contain keys.
        drop(former);
        for entry in self.all() {
            self.settings.give_to(&entry, None);
        }
    }

    /// Calls a function with each key and its strategy.
    pub(crate) fn try_for_each<E>(&self, mut check: impl FnMut(&K, &S) -> Result<(), E>) -> Result<(), E> {
        self.all().iter().try_for_each(|entry| check(&entry.key, &entry.switched.strategy))
    }

    fn all(&self) -> Vec<Arc<Entry<S, K>>> {
        self.read().all()
    }
}
