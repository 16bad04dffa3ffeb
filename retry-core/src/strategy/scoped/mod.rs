//! One strategy for each scope key: what is throttled separately retries separately.

mod entries;

use crate::policy::Success;
use crate::strategy::standard::StandardRetryStrategy;
use crate::strategy::{
    Failure, ForeignToken, LazyWaker, Operations, Ready, RetryError, RetryStrategy, Share, Switch, Switched,
    forward_strategy,
};
use crate::support::InvalidSetting;
use crate::support::sync::{AtomicU64, Ordering, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use crate::time::Clock;
use entries::{Entries, Entry};
use std::borrow::Borrow;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Weak};

/// Strategies by key, each with its own state: one for each resource that is throttled by itself.
///
/// A quota shared by all of a service's resources punishes the healthy ones: one bucket that throttles would use up the
/// retries of all the others. So make the key what the service throttles by (a bucket and a prefix, a region and a
/// table, a tenant), and each has a quota, and a limiter, of its own. What has one limit in common belongs under one key.
///
/// ```
/// # #[derive(Debug, retry_core::RetryInfo)]
/// # enum StoreError {}
/// use retry_core::{RetryQuota, ScopedRetryStrategy, StandardRetryStrategy, retryable};
///
/// static BUCKETS: ScopedRetryStrategy<String> = ScopedRetryStrategy::new(StandardRetryStrategy::new);
///
/// #[retryable(strategy = BUCKETS.scope(bucket))]
/// async fn put(bucket: &str, key: &str, body: &[u8]) -> Result<(), StoreError> {
///     // One attempt.
/// #   Ok(())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// put("photos", "sunset", b"...").await?;
/// assert_eq!(BUCKETS.scope("photos").quota().available(), 500);
/// # Ok::<(), StoreError>(())
/// # }).unwrap();
/// ```
///
/// # Bounds
///
/// It keeps [`max_scopes`](ScopedRetryStrategy::max_scopes) keys at most, 1024 unless you say otherwise. A new key
/// beyond that takes the place of the one whose [`scope`](ScopedRetryStrategy::scope) was asked for the longest ago. A
/// key that comes back begins anew, with a full quota: so let the bound be well above the number of keys that are busy
/// at one time.
///
/// A key of which there is a [handle](Scope), as each operation under way has one, keeps its place. If all of them are
/// in use there are more keys than the bound allows, until some are not and the next new key comes. (It then looks for
/// them once for each 64th part of its size that it grows, so where nearly all are in use it can be larger by that much.)
///
/// # Costs
///
/// A known key costs a hash of it, a read lock and a reference count: about 50 ns, twice that where threads contend, and
/// no allocation. Who has the key for longer can keep the handle instead, and name that: `strategy = self.scope` costs
/// what the strategy does. A new key is copied, and a strategy is made for it; finding the one that has to go takes
/// amortised `O(log n)` time.
///
/// # Panics
///
/// None of its own. Nothing of the key or the strategy runs under the lock: a `Hash`, an `Eq`, a `Drop` or a maker that
/// panics does so in the call that asked, and every other scope stays as it was. They may ask for scopes themselves.
pub struct ScopedRetryStrategy<K, S = StandardRetryStrategy> {
    make: fn() -> S,
    max_scopes: usize,
    /// What new entries begin with. It is set under the write lock.
    switch: Switch,
    /// The number of the latest use. Each has one of its own, from 2 on. Nothing but the number is read from it, so
    /// relaxed order suffices.
    uses: AtomicU64,
    entries: RwLock<Entries<K, S>>,
}

impl<K, S: RetryStrategy> ScopedRetryStrategy<K, S> {
    /// No scopes yet. Each will have a strategy that `make` makes: a path as in `StandardRetryStrategy::new`, or a
    /// closure that captures nothing.
    ///
    /// ```
    /// use retry_core::{ScopedRetryStrategy, StandardRetryStrategy};
    ///
    /// static TENANTS: ScopedRetryStrategy<u64> =
    ///     ScopedRetryStrategy::new(|| StandardRetryStrategy::new().max_attempts(3)).max_scopes(10_000);
    /// let tenant = TENANTS.scope(&7);
    /// ```
    ///
    /// If two threads ask for a new key at the same time, `make` may be called by both; the key gets one of the
    /// strategies, and the other is dropped.
    pub const fn new(make: fn() -> S) -> Self {
        Self {
            make,
            max_scopes: 1024,
            switch: Switch::new(),
            uses: AtomicU64::new(1),
            entries: RwLock::new(Entries::new()),
        }
    }

    /// Sets how many keys are kept at most.
    ///
    /// # Panics
    ///
    /// If it is 0; in a `static` that is a compile error. For a number that comes in at run time, there is
    /// [`try_max_scopes`](ScopedRetryStrategy::try_max_scopes).
    #[must_use]
    pub const fn max_scopes(mut self, max_scopes: usize) -> Self {
        assert!(max_scopes >= 1, "invalid max_scopes: expected at least 1, for the scope that was just asked for");
        self.max_scopes = max_scopes;
        self
    }

    /// Sets how many keys are kept at most.
    ///
    /// # Errors
    ///
    /// If it is 0.
    pub fn try_max_scopes(self, max_scopes: usize) -> Result<Self, InvalidSetting> {
        if max_scopes == 0 {
            return Err(InvalidSetting::new("max_scopes", max_scopes, "a whole number of at least 1"));
        }
        Ok(self.max_scopes(max_scopes))
    }

    /// Returns how many keys are kept at most, see [`max_scopes`](ScopedRetryStrategy::max_scopes).
    pub const fn max_scopes_setting(&self) -> usize {
        self.max_scopes
    }

    /// The strategy of this key.
    ///
    /// Any borrowed form of the key will do, as in maps of the standard library: a `&str` where the keys are `String`s.
    /// It is copied the first time only.
    ///
    /// # Panics
    ///
    /// If the key's `Hash`, `Eq` or `ToOwned`, the maker, or the `Drop` of what had to go does.
    pub fn scope<Q>(&self, key: &Q) -> Scope<S>
    where
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
        K: Borrow<Q> + Send + Sync + 'static,
    {
        let hash = SEEDS.hash_one(key);
        // Those that have this hash and another key. With 64 random bits there is none, unless the key's `Hash` is bad.
        // Weak references, so that they are not in use, and still no newer entry can have one's address.
        let mut others = Vec::new();
        let mut made = None;
        loop {
            let found = match &made {
                None => self.read().find(hash, &others),
                Some(made) => self.find_or_insert(hash, &others, made),
            };
            match found {
                Some(entry) if *key == *entry.key.borrow() => {
                    self.touch(&entry.last_use);
                    return Scope { entry };
                }
                Some(entry) => others.push(Arc::downgrade(&entry)),
                None => match made {
                    Some(entry) => return Scope { entry },
                    None => made = Some(self.make(key.to_owned())),
                },
            }
        }
    }

    /// Turns the retries of all scopes on or off, of those that exist and of those to come. They are on at first.
    ///
    /// A scope's strategy keeps its own switch, as in `STORES.scope("photos").set_enabled(false)`. Retries are made while both
    /// are on.
    pub fn set_enabled(&self, enabled: bool) {
        // The lock keeps out other calls of this method, and new entries, so that none misses the change.
        let entries = self.write();
        self.switch.set(enabled);
        for entry in entries.iter() {
            entry.switched.switch.set(enabled);
        }
    }

    /// Returns whether retries are on, see [`set_enabled`](ScopedRetryStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.switch.is_on()
    }

    /// How many keys it keeps at the moment.
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Whether it keeps no key yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[cold]
    fn make(&self, key: K) -> Arc<Entry<S, K>> {
        let switched = Switched { switch: Switch::new(), strategy: (self.make)() };
        Arc::new(Entry { switched, last_use: AtomicU64::new(0), key })
    }

    /// Another entry with this hash whose key is yet to be compared; if there is none, `made` is now among the entries.
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
            made.switched.switch.set(self.switch.is_on());
            entries.insert(hash, Arc::clone(made));
            let evicted = entries.evict(self.max_scopes);
            // In this order: keys and strategies are dropped after the lock was given back.
            drop(entries);
            drop(evicted);
        }
        found
    }

    /// Notes that an entry is used. As long as no other one is, that is two loads and no write.
    fn touch(&self, last_use: &AtomicU64) {
        if last_use.load(Ordering::Relaxed) != self.uses.load(Ordering::Relaxed) {
            last_use.store(self.uses.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
    }
}

impl<K, S> ScopedRetryStrategy<K, S> {
    // Only a panic of our own under the lock could poison it, and none leaves it inconsistent.
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

/// The strategy of one key, in use: made by [`ScopedRetryStrategy::scope`].
///
/// It borrows neither the map nor the key, and as long as it or a clone of it lives, the key keeps its place and its
/// state: what an operation paid goes back to where it came from. So who drives a strategy by hand keeps the handle as
/// long as the token. It dereferences to the strategy.
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

forward_strategy! {
    [S: RetryStrategy] Scope<S>: S::Token, self => self.entry.switched;
}

impl<S: RetryStrategy> Share<Scope<S>> for Operations {}

/// What this process was given of chance. Keys may come from outside, so nobody must be able to choose their hashes.
static SEEDS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
