//! Keys and makers that panic, collide, and call back.

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

/// All of them hash alike.
#[derive(Clone, PartialEq, Eq)]
struct Colliding(u32);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
    }
}

#[test]
fn keys_of_one_hash_are_kept_apart() {
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
fn keys_of_one_hash_go_and_stay_like_any_other() {
    let scopes = ScopedRetryStrategy::<Colliding, _>::new(standard).max_scopes(3);
    let held = scopes.scope(&Colliding(2));
    for key in 0..20 {
        // Those before and behind the one that is held go; it must be found all the same.
        scopes.scope(&Colliding(key));
        assert!(are_one(&scopes.scope(&Colliding(2)), &held), "after {key}");
    }
    assert_eq!(scopes.len(), 3);
    pay(&scopes.scope(&Colliding(19)));
    assert_eq!(scopes.scope(&Colliding(19)).quota().available(), 495);
    assert_eq!(scopes.scope(&Colliding(0)).quota().available(), 500);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Trap {
    None,
    Hash,
    Eq,
    Clone,
    Drop,
}

/// A key that panics where it is told to.
struct Trapped {
    name: u32,
    trap: Trap,
}

impl Trapped {
    const fn new(name: u32) -> Self {
        Self { name, trap: Trap::None }
    }

    fn spring(&self, trap: Trap) {
        assert!(self.trap != trap, "a trap of the test");
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
fn a_key_that_panics_leaves_all_scopes_as_they_were() {
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
fn a_key_that_panics_when_it_is_dropped_is_gone_all_the_same() {
    let scopes = ScopedRetryStrategy::<Trapped, _>::new(standard).max_scopes(2);
    // The borrowed key is not dropped, only the copy of it is.
    let trapped = std::mem::ManuallyDrop::new(Trapped { name: 1, trap: Trap::Drop });
    scopes.scope(&*trapped);
    pay(&scopes.scope(&Trapped::new(2)));
    assert!(panics(|| scopes.scope(&Trapped::new(3))), "the new key turns the first one out");
    assert_eq!(scopes.len(), 2);
    assert_eq!(scopes.scope(&Trapped::new(2)).quota().available(), 495);
    pay(&scopes.scope(&Trapped::new(3)));
    assert_eq!(scopes.scope(&Trapped::new(3)).quota().available(), 495);
}

/// Part of a strategy, so that the strategy's `Drop` runs it.
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
fn a_strategy_that_asks_for_a_scope_when_it_is_dropped_gets_it() {
    thread_local! {
        static DROPS: Cell<u32> = const { Cell::new(0) };
    }
    fn dropped() {
        DROPS.set(DROPS.get() + 1);
        if DROPS.get() == 1 {
            // One that is known, and one that is not, for which another one has to go.
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
fn a_strategy_that_panics_when_it_is_dropped_takes_no_other_with_it() {
    thread_local! {
        static ARMED: Cell<bool> = const { Cell::new(true) };
    }
    fn dropped() {
        assert!(!ARMED.replace(false), "a trap of the test");
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
fn a_maker_that_panics_leaves_the_key_unknown() {
    thread_local! {
        static BROKEN: Cell<bool> = const { Cell::new(false) };
    }
    let scopes = ScopedRetryStrategy::<u32, _>::new(|| {
        assert!(!BROKEN.get(), "a trap of the test");
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
fn a_maker_may_ask_for_scopes_even_for_the_one_that_it_makes() {
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
    assert_eq!(scope.quota().available(), 495, "the one that was there first is the one that counts");
    assert_eq!(DEPTH.get(), 3);
    assert_eq!(SCOPES.len(), 2);
    let token = scope.acquire_initial_token(CLOCK).unwrap();
    assert_eq!(SCOPES.scope(&1).record_success(token, &Success::default(), CLOCK), Ok(()));
}
