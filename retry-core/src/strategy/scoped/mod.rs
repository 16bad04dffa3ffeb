//! One strategy for each scope key, for resources that are throttled separately.

mod entries;
mod recent;
mod settings;

use crate::strategy::standard::StandardRetryStrategy;
use crate::strategy::{Operations, RetryStrategy, Share, Switch, Switched, forward_strategy};
use crate::support::InvalidSetting;
use crate::support::sync::{AtomicU64, Ordering, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use entries::{Entries, Entry};
use recent::Recent;
use settings::{Given, Settings};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Deref;
use std::sync::{Arc, LazyLock, OnceLock, Weak};

/// A map of strategies by key, each with its own state: one for each resource that is throttled separately.
///
/// If all resources of a service share one quota, a single throttled resource uses up the retries of the healthy ones.
/// So use the unit that the service throttles as the key: a bucket and a prefix, a region and a table, or a tenant.
/// Each key then has its own quota and its own limiter. Resources with a common limit belong under one key.
///
/// ```
/// # #[derive(Debug, retry_core::RetryInfo)]
/// # enum StoreError {}
/// use retry_core::{PatientRetryStrategy, ScopedRetryStrategy, retryable};
///
/// static BUCKETS: ScopedRetryStrategy<String, PatientRetryStrategy> =
///     ScopedRetryStrategy::new(PatientRetryStrategy::new);
///
/// #[retryable(strategy = BUCKETS.scope(bucket))]
/// async fn put(bucket: &str, key: &str, body: &[u8]) -> Result<(), StoreError> {
///     // One attempt.
/// #   Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// put("photos", "sunset", b"...").await?;
/// # Ok::<(), StoreError>(())
/// # }).unwrap();
/// ```
///
/// # Bounds
///
/// The map keeps at most [`max_scopes`](ScopedRetryStrategy::max_scopes) keys, by default 1024. Beyond that, a new key
/// evicts the least recently used key: never one for which there is another unused key whose last call of
/// [`scope`](ScopedRetryStrategy::scope) and whose last handle ended earlier. An evicted key that comes back starts with a new
/// strategy and a full quota, so set the bound well above the number of keys that are busy at the same time.
///
/// A key is in use while it has a [handle](Scope), as it does during each operation. Keys in use are never evicted. If
/// all keys are in use, the map grows beyond the bound. It shrinks again when a new key is added while others are
/// unused. If nearly all keys are in use, the map searches for unused ones only once while it grows by 1/64 of its
/// size, so it can exceed the bound by that much even though a few keys are unused.
///
/// # Costs
///
/// The lookup of an existing key takes a lock and increments a reference count. It hashes the key unless the thread has looked up the
/// same key twice in a row. This takes about 30 ns or less, and allocates nothing. Each thread has its own lock for the keys that it
/// looked up lately, so threads that use the same key contend for the reference count only. With that contention, a lookup takes two to
/// three times as long. To avoid the lookup, keep the handle and use it as the strategy: `strategy = self.scope` costs no more than the
/// strategy itself. A new key is cloned, and a strategy is created for it. Choosing the key to evict takes amortized `O(log n)` time.
///
/// # Panics
///
/// [`scope`](ScopedRetryStrategy::scope) never panics by itself. The code of the key and the strategy never runs under
/// the lock. If a `Hash`, `Eq`, `Drop` or constructor panics, the panic propagates to the caller, and all other scopes
/// stay unchanged. This code may itself call `scope` on the same map.
pub struct ScopedRetryStrategy<K, S = StandardRetryStrategy> {
    make: Make<K, S>,
    named_by: Option<fn(&K) -> String>,
    max_scopes: usize,
    /// The switch of all entries. It is created when it is first needed, because a `const` can't allocate.
    switch: OnceLock<Arc<Switch>>,
    /// The number of the latest use. Uses are numbered from 2 on. The number publishes no other data, so relaxed
    /// ordering suffices.
    uses: AtomicU64,
    entries: RwLock<Entries<K, S>>,
    recent: Recent<S, K>,
    settings: Settings<K, S>,
}

/// The function that makes the strategy of a key.
enum Make<K, S> {
    Alike(fn() -> S),
    ByKey(fn(&K) -> S),
}

impl<K, S: RetryStrategy> ScopedRetryStrategy<K, S> {
    /// Creates an empty map. `make` creates the strategy of each new key: it is a function such as
    /// `PatientRetryStrategy::new`, or a closure that captures nothing.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, ScopedRetryStrategy};
    ///
    /// static TENANTS: ScopedRetryStrategy<u64, PatientRetryStrategy> =
    ///     ScopedRetryStrategy::new(|| PatientRetryStrategy::new().max_attempts(10))
    ///         .max_scopes(10_000);
    /// let tenant = TENANTS.scope(&7);
    /// ```
    ///
    /// If two threads look up the same new key at the same time, both may call `make`. The key gets one of the
    /// strategies, and the other one is dropped.
    pub const fn new(make: fn() -> S) -> Self {
        Self::made_by(Make::Alike(make))
    }

    /// Creates an empty map, like [`new`](ScopedRetryStrategy::new). `make` sees the key.
    ///
    /// ```
    /// use retry_core::{RetryQuota, ScopedRetryStrategy, StandardRetryStrategy};
    ///
    /// static TENANTS: ScopedRetryStrategy<String> = ScopedRetryStrategy::by_key(|tenant| {
    ///     let capacity = if tenant.starts_with("large-") { 5_000 } else { 500 };
    ///     StandardRetryStrategy::new().quota_capacity(capacity)
    /// });
    /// assert_eq!(TENANTS.scope("large-7").quota().available(), 5_000);
    /// ```
    pub const fn by_key(make: fn(&K) -> S) -> Self {
        Self::made_by(Make::ByKey(make))
    }

    const fn made_by(make: Make<K, S>) -> Self {
        Self {
            make,
            named_by: None,
            max_scopes: 1024,
            switch: OnceLock::new(),
            uses: AtomicU64::new(1),
            entries: RwLock::new(Entries::new()),
            recent: Recent::new(),
            settings: Settings::new(),
        }
    }

    /// Names the strategy of each scope by its key, for events. Without it, a scope has the name of its strategy.
    ///
    /// Each key becomes a separate label in metrics, so use it only if there are few keys.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, ScopedRetryStrategy};
    ///
    /// static REGIONS: ScopedRetryStrategy<String, PatientRetryStrategy> =
    ///     ScopedRetryStrategy::new(PatientRetryStrategy::new)
    ///         .named_by(|region| format!("store-{region}"));
    /// ```
    #[must_use]
    pub const fn named_by(mut self, named_by: fn(&K) -> String) -> Self {
        self.named_by = Some(named_by);
        self
    }

    /// Sets the maximum number of keys. The default is 1024.
    ///
    /// # Panics
    ///
    /// Panics if the number is 0; in a `static` that is a compile error. For a number that is only known at run time,
    /// use [`try_max_scopes`](ScopedRetryStrategy::try_max_scopes).
    #[must_use]
    pub const fn max_scopes(mut self, max_scopes: usize) -> Self {
        assert!(max_scopes >= 1, "invalid max_scopes: expected at least 1, for the scope that was just asked for");
        self.max_scopes = max_scopes;
        self
    }

    /// Sets the maximum number of keys.
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_scopes(self, max_scopes: usize) -> Result<Self, InvalidSetting> {
        if max_scopes == 0 {
            return Err(InvalidSetting::new("max_scopes", max_scopes, "a whole number of at least 1"));
        }
        Ok(self.max_scopes(max_scopes))
    }

    /// Returns the maximum number of keys; see [`max_scopes`](ScopedRetryStrategy::max_scopes).
    pub const fn max_scopes_setting(&self) -> usize {
        self.max_scopes
    }

    /// Returns a handle to the strategy of this key. A new key gets a new strategy.
    ///
    /// The key can be passed in any borrowed form, as in the maps of the standard library: for example, as a `&str` if
    /// the keys are `String`s. Only a new key is cloned, with `ToOwned`.
    ///
    /// # Panics
    ///
    /// Panics if the key's `Hash`, `Eq` or `ToOwned` panics, if the function passed to
    /// [`new`](ScopedRetryStrategy::new) panics, or if the `Drop` of an evicted key or strategy panics.
    pub fn scope<Q>(&self, key: &Q) -> Scope<S>
    where
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        K: Borrow<Q> + Send + Sync + 'static,
    {
        // If the keys differ, the entry is let go before this key is hashed: while it is held, its scope can't be evicted.
        if let Some(entry) = self.recent.repeated()
            && *key == *entry.key.borrow()
        {
            self.touch(&entry.last_use);
            return Scope { entry };
        }
        self.scope_by_hash(key)
    }

    /// Returns a handle to the strategy of a key that must be hashed, because it is not the one that this thread uses repeatedly.
    fn scope_by_hash<Q>(&self, key: &Q) -> Scope<S>
    where
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        K: Borrow<Q> + Send + Sync + 'static,
    {
        let hash = HASH_SEED.hash_one(key);
        match self.recent.find(hash) {
            Some(entry) if *key == *entry.key.borrow() => {
                self.touch(&entry.last_use);
                Scope { entry }
            }
            _ => self.scope_in_map(hash, key),
        }
    }

    /// Returns a handle to the strategy of a key that the map is searched for.
    fn scope_in_map<Q>(&self, hash: u64, key: &Q) -> Scope<S>
    where
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        K: Borrow<Q> + Send + Sync + 'static,
    {
        // The entries with this hash and a different key. With a randomly seeded 64-bit hash there are practically
        // none, unless the key's `Hash` is bad. A weak reference does not count as use, and still reserves the address
        // of its entry, so that no newer entry is mistaken for it.
        let mut others = Vec::new();
        let mut made = None;
        loop {
            let found = match &made {
                None => self.read().find(hash, &others),
                Some((made, _)) => self.find_or_insert(hash, &others, made),
            };
            match found {
                Some(entry) if *key == *entry.key.borrow() => {
                    if self.touch(&entry.last_use) <= recent::PLACES {
                        self.recent.remember(hash, &entry);
                    }
                    return Scope { entry };
                }
                Some(entry) => others.push(Arc::downgrade(&entry)),
                None => match made {
                    Some((entry, given)) => {
                        self.settings.give_to(&entry, given);
                        return Scope { entry };
                    }
                    None => made = Some(self.make(key.to_owned())),
                },
            }
        }
    }

    /// Turns the retries of all scopes on or off, including those of future scopes. They are on by default.
    ///
    /// The strategy of a scope has its own switch, as in `STORES.scope("photos").set_enabled(false)`. A retry needs
    /// both switches to be on. The switch of a single scope is lost if the scope is evicted, unless a handle is kept.
    pub fn set_enabled(&self, enabled: bool) {
        self.switch().set(enabled);
    }

    /// Returns whether the retries of the scopes are on; see [`set_enabled`](ScopedRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.switch().is_on()
    }

    fn switch(&self) -> &Arc<Switch> {
        self.switch.get_or_init(|| Arc::new(Switch::new()))
    }

    /// Returns the current number of keys.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Returns whether the map has no keys.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn make(&self, key: K) -> (Arc<Entry<S, K>>, Given<K, S>) {
        let name = self.named_by.map(|name| name(&key).into());
        let strategy = self.make_strategy(&key);
        let switched = Switched { switch: Arc::clone(self.switch()), name, strategy };
        let entry = Entry { switched, last_use: AtomicU64::new(0), key };
        let given = self.settings.give_to(&entry, None);
        (Arc::new(entry), given)
    }

    /// Makes a strategy as for a new scope with this key. The map does not keep it, so it only shows what the scope would start with.
    pub fn make_strategy(&self, key: &K) -> S {
        match self.make {
            Make::Alike(make) => make(),
            Make::ByKey(make) => make(key),
        }
    }

    /// Makes a strategy as for any new scope, unless the maker sees the key.
    #[doc(hidden)]
    pub fn make_alike(&self) -> Option<S> {
        match self.make {
            Make::Alike(make) => Some(make()),
            Make::ByKey(_) => None,
        }
    }

    /// Returns another entry with this hash whose key must still be compared. If there is none, inserts `made`.
    fn find_or_insert(
        &self,
        hash: u64,
        others: &[Weak<Entry<S, K>>],
        made: &Arc<Entry<S, K>>,
    ) -> Option<Arc<Entry<S, K>>> {
        let mut entries = self.write();
        let found = entries.find(hash, others);
        if found.is_none() {
            self.touch(&made.last_use);
            entries.insert(hash, Arc::clone(made));
            let _evicted = if entries.len() > self.max_scopes {
                // From here on, a thread can get a handle to an unused entry only from the map, which is locked.
                self.recent.clear();
                entries.evict(self.max_scopes)
            } else {
                Vec::new()
            };
            // The evicted keys and strategies are dropped at the end of this block. They are the user's code, so the lock is
            // released first.
            drop(entries);
        }
        found
    }

    /// Marks an entry as the most recently used one, and returns the number of uses of others since its last one. If that is zero, this
    /// takes two loads and no write.
    fn touch(&self, last_use: &AtomicU64) -> u64 {
        let (last, uses) = (last_use.load(Ordering::Relaxed), self.uses.load(Ordering::Relaxed));
        if last != uses {
            last_use.store(self.uses.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        uses.saturating_sub(last)
    }
}

impl<K, S> ScopedRetryStrategy<K, S> {
    // No user code runs under the lock, so only a bug of this module could poison it. Poisoning is ignored,
    // because no panic would leave the entries inconsistent.
    fn read(&self) -> RwLockReadGuard<'_, Entries<K, S>> {
        self.entries.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Entries<K, S>> {
        self.entries.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K, S> fmt::Debug for ScopedRetryStrategy<K, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.read().len();
        f.debug_struct("ScopedRetryStrategy")
            .field("max_scopes", &self.max_scopes)
            .field("len", &len)
            .finish_non_exhaustive()
    }
}

/// A handle to the strategy of one key, returned by [`ScopedRetryStrategy::scope`].
///
/// The handle borrows neither the map nor the key. As long as the handle or a clone of it exists, the key is not
/// evicted and keeps its state, so a refund goes to the quota that paid. When driving a strategy by hand, keep the
/// handle as long as the token. The handle dereferences to the strategy.
pub struct Scope<S> {
    entry: Arc<Entry<S>>,
}

impl<S> Clone for Scope<S> {
    fn clone(&self) -> Self {
        Self { entry: Arc::clone(&self.entry) }
    }
}

impl<S> Deref for Scope<S> {
    type Target = S;

    #[inline]
    fn deref(&self) -> &S {
        &self.entry.switched.strategy
    }
}

impl<S: fmt::Debug> fmt::Debug for Scope<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Scope").field(&**self).finish()
    }
}

impl<S: RetryStrategy> RetryStrategy for Scope<S> {
    type Token = S::Token;
    forward_strategy! { self => self.entry.switched }
}

impl<S: RetryStrategy> Share<Scope<S>> for Operations {}

/// The random seed of the process for the hashes of keys. Keys can be untrusted input, so their hashes must not be
/// predictable.
static HASH_SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);

#[cfg(test)]
mod tests;
