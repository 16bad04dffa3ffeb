//! Keys and strategy constructors that panic, collide or call the map again.

use super::{CLOCK, are_one, pay, standard};
use retry_core::strategy::StandardRetrySettings;
use retry_core::{
    BackoffStrategy, RetryErrorType, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, Success,
    TokenBucket,
};
use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

fn panics<R>(run: impl FnOnce() -> R) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

/// Keys that all have the same hash.
#[derive(Clone, PartialEq, Eq)]
struct Colliding(u32);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
    }
}

#[test]
fn keys_with_the_same_hash_have_separate_scopes() {
    let scopes = ScopedRetryStrategy::<Colliding, _>::new(standard).max_scopes(100);
    for round in 1..=3 {
        for key in 0..100 {
            let scope = scopes.scope(&Colliding(key));
            assert_eq!(scope.quota().available(), 505 - 5 * round);
            pay(&scope);
        }
    }
    assert_eq!(scopes.len(), 100);
}

#[test]
fn keys_with_the_same_hash_are_evicted_like_others() {
    let scopes = ScopedRetryStrategy::<Colliding, _>::new(standard).max_scopes(3);
    let held = scopes.scope(&Colliding(2));
    for key in 0..20 {
        // The scopes before and after the held one are evicted. The held one must still be found.
        scopes.scope(&Colliding(key));
        assert!(are_one(&scopes.scope(&Colliding(2)), &held), "after {key}");
    }
    assert_eq!(scopes.len(), 3);
    pay(&scopes.scope(&Colliding(19)));
    assert_eq!(scopes.scope(&Colliding(19)).quota().available(), 495);
    assert_eq!(scopes.scope(&Colliding(0)).quota().available(), 500);
}

thread_local! {
    static COMPARED: Cell<u32> = const { Cell::new(0) };
}

/// Keys that all have the same hash, and count their comparisons.
#[derive(Clone, Eq)]
struct Compared(u32);

impl Hash for Compared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(1);
    }
}

impl PartialEq for Compared {
    fn eq(&self, other: &Self) -> bool {
        COMPARED.set(COMPARED.get() + 1);
        self.0 == other.0
    }
}

// Rule S5.
#[test]
fn the_key_that_a_thread_looked_up_last_is_not_compared_with_others() {
    let scopes = ScopedRetryStrategy::<Compared, _>::new(standard);
    let comparisons = |key: u32| {
        COMPARED.set(0);
        pay(&scopes.scope(&Compared(key)));
        COMPARED.get()
    };
    for key in 0..4 {
        scopes.scope(&Compared(key));
    }
    // Each is compared with the one that was looked up before, once more if that was looked up repeatedly, and then with all up to itself.
    assert_eq!([comparisons(3), comparisons(3), comparisons(3)], [4, 1, 1]);
    assert_eq!([comparisons(1), comparisons(1), comparisons(0)], [4, 1, 3]);
    assert_eq!(scopes.scope(&Compared(3)).quota().available(), 485);
}

thread_local! {
    static LOOKED_AT: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// Keys that count how often they are hashed and compared.
#[derive(Clone, Eq)]
struct LookedAt(u32);

impl Hash for LookedAt {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (hashed, compared) = LOOKED_AT.get();
        LOOKED_AT.set((hashed + 1, compared));
        self.0.hash(state);
    }
}

impl PartialEq for LookedAt {
    fn eq(&self, other: &Self) -> bool {
        let (hashed, compared) = LOOKED_AT.get();
        LOOKED_AT.set((hashed, compared + 1));
        self.0 == other.0
    }
}

#[test]
fn a_key_that_a_thread_looks_up_repeatedly_is_compared_and_not_hashed() {
    let scopes = ScopedRetryStrategy::<LookedAt, _>::new(standard);
    let looked_at = |key: u32| {
        LOOKED_AT.set((0, 0));
        let scope = scopes.scope(&LookedAt(key));
        (LOOKED_AT.get(), pay(&scope)).0
    };
    let [first, second] = [0, 1].map(|key| (looked_at(key), scopes.scope(&LookedAt(key))).1);
    // The first lookups of a key hash it: they are no repetition.
    assert_eq!([looked_at(0), looked_at(0), looked_at(0), looked_at(0)], [(1, 1), (1, 1), (0, 1), (0, 1)]);
    // Another key is compared in vain once, and not while keys alternate.
    assert_eq!([looked_at(1), looked_at(0), looked_at(1), looked_at(0)], [(1, 2), (1, 1), (1, 1), (1, 1)]);
    assert_eq!([first.quota().available(), second.quota().available()], [465, 485]);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trap {
    None,
    Hash,
    Eq,
    Clone,
    Drop,
}

/// A key that panics in one of its methods.
struct Trapped {
    name: u32,
    trap: Trap,
}

impl Trapped {
    const fn new(name: u32) -> Self {
        Self { name, trap: Trap::None }
    }

    fn spring(&self, trap: Trap) {
        assert!(self.trap != trap, "a panic of the test");
    }
}

impl Hash for Trapped {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.spring(Trap::Hash);
        self.name.hash(state);
    }
}

impl PartialEq for Trapped {
    fn eq(&self, other: &Self) -> bool {
        self.spring(Trap::Eq);
        other.spring(Trap::Eq);
        self.name == other.name
    }
}

impl Eq for Trapped {}

impl Clone for Trapped {
    fn clone(&self) -> Self {
        self.spring(Trap::Clone);
        Self { ..*self }
    }
}

impl Drop for Trapped {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.spring(Trap::Drop);
        }
    }
}

// Rule S6.
#[test]
fn a_key_that_panics_leaves_all_scopes_unchanged() {
    let scopes = ScopedRetryStrategy::<Trapped, _>::new(standard).max_scopes(2);
    pay(&scopes.scope(&Trapped::new(1)));
    for trap in [Trap::Hash, Trap::Eq] {
        assert!(panics(|| scopes.scope(&Trapped { name: 1, trap })));
    }
    for trap in [Trap::Hash, Trap::Clone] {
        assert!(panics(|| scopes.scope(&Trapped { name: 2, trap })));
    }
    assert_eq!(scopes.len(), 1);
    assert_eq!(scopes.scope(&Trapped::new(1)).quota().available(), 495);
}

#[test]
fn a_key_that_panics_when_it_is_dropped_is_still_evicted() {
    let scopes = ScopedRetryStrategy::<Trapped, _>::new(standard).max_scopes(2);
    // The borrowed key is not dropped, only its clone in the map.
    let trapped = std::mem::ManuallyDrop::new(Trapped { name: 1, trap: Trap::Drop });
    scopes.scope(&*trapped);
    pay(&scopes.scope(&Trapped::new(2)));
    assert!(panics(|| scopes.scope(&Trapped::new(3))), "the new key evicts the first one");
    assert_eq!(scopes.len(), 2);
    assert_eq!(scopes.scope(&Trapped::new(2)).quota().available(), 495);
    pay(&scopes.scope(&Trapped::new(3)));
    assert_eq!(scopes.scope(&Trapped::new(3)).quota().available(), 495);
}

/// A part of a strategy that calls a function when the strategy is dropped.
struct OnDrop(fn());

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0();
    }
}

impl BackoffStrategy for OnDrop {
    fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
        Duration::ZERO
    }
}

type Dropping = StandardRetryStrategy<OnDrop, TokenBucket>;

// Rule S6.
#[test]
fn a_strategy_may_look_up_scopes_when_it_is_dropped() {
    thread_local! {
        static DROPS: Cell<u32> = const { Cell::new(0) };
    }
    fn dropped() {
        DROPS.set(DROPS.get() + 1);
        if DROPS.get() == 1 {
            // A known key, and a new one, which evicts another scope.
            SCOPES.scope(&2);
            SCOPES.scope(&4);
        }
    }
    static SCOPES: ScopedRetryStrategy<u32, Dropping> = ScopedRetryStrategy::new(|| {
        StandardRetryStrategy::from_parts(StandardRetrySettings::new(), OnDrop(dropped), TokenBucket::new(5))
    })
    .max_scopes(2);
    for key in 1..=3 {
        SCOPES.scope(&key);
    }
    assert_eq!(DROPS.get(), 2);
    assert_eq!(SCOPES.len(), 2);
}

// Rule S6.
#[test]
fn a_strategy_that_panics_when_it_is_dropped_does_not_affect_other_scopes() {
    thread_local! {
        static ARMED: Cell<bool> = const { Cell::new(true) };
    }
    fn dropped() {
        assert!(!ARMED.replace(false), "a panic of the test");
    }
    let scopes = ScopedRetryStrategy::<u32, Dropping>::new(|| {
        StandardRetryStrategy::from_parts(StandardRetrySettings::new(), OnDrop(dropped), TokenBucket::new(5))
    })
    .max_scopes(2);
    scopes.scope(&1);
    assert!(scopes.scope(&2).quota().try_acquire(3, CLOCK));
    assert!(panics(|| scopes.scope(&3)));
    assert_eq!(scopes.len(), 2);
    assert_eq!(scopes.scope(&2).quota().available(), 2);
}

// Rule S6.
#[test]
fn a_constructor_that_panics_adds_no_scope() {
    thread_local! {
        static BROKEN: Cell<bool> = const { Cell::new(false) };
    }
    let scopes = ScopedRetryStrategy::<u32, _>::new(|| {
        assert!(!BROKEN.get(), "a panic of the test");
        standard()
    });
    pay(&scopes.scope(&1));
    BROKEN.set(true);
    assert!(panics(|| scopes.scope(&2)));
    assert_eq!(scopes.len(), 1);
    assert_eq!(scopes.scope(&1).quota().available(), 495);
    BROKEN.set(false);
    assert_eq!(scopes.scope(&2).quota().available(), 500);
}

// Rule S6.
#[test]
fn a_constructor_may_look_up_scopes_including_its_own() {
    thread_local! {
        static DEPTH: Cell<u32> = const { Cell::new(0) };
    }
    static SCOPES: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(|| {
        if DEPTH.replace(DEPTH.get() + 1) == 0 {
            pay(&SCOPES.scope(&1));
            pay(&SCOPES.scope(&2));
        }
        standard()
    });
    let scope = SCOPES.scope(&1);
    assert_eq!(scope.quota().available(), 495, "the strategy that was inserted first is kept");
    assert_eq!(DEPTH.get(), 3);
    assert_eq!(SCOPES.len(), 2);
    let token = scope.acquire_initial_token(CLOCK).unwrap();
    assert_eq!(SCOPES.scope(&1).record_success(token, &Success::default(), CLOCK), Ok(()));
}
