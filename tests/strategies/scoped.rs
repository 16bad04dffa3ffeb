//! Scopes: one strategy for each key.

mod hostile;
mod operations;
mod settings;
mod threads;

use crate::support::Failed;
use retry_core::strategy::{ForeignToken, Scope, StandardRetryToken};
use retry_core::{
    Clock, Failure, Jitter, RetryError, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy, Success,
    TokioTimer,
};
use std::cell::Cell;

const CLOCK: &dyn Clock = &TokioTimer;

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

const fn scopes(max_scopes: usize) -> ScopedRetryStrategy<u32> {
    ScopedRetryStrategy::new(standard).max_scopes(max_scopes)
}

/// Returns true if both are handles of the same strategy.
fn are_one<S>(one: &Scope<S>, other: &Scope<S>) -> bool {
    std::ptr::eq::<S>(&raw const **one, &raw const **other)
}

/// Pays for a retry, so that the state of the scope differs from that of a new one.
fn pay(scope: &Scope<StandardRetryStrategy>) -> StandardRetryToken {
    let token = scope.acquire_initial_token(CLOCK).unwrap();
    scope.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
}

/// Pays for a retry in the scopes of these keys, in this order. None of the scopes is in use afterwards.
fn mark(scopes: &ScopedRetryStrategy<u32>, keys: impl IntoIterator<Item = u32>) {
    for key in keys {
        pay(&scopes.scope(&key));
    }
}

/// Returns true if the scope of this key was evicted. The call itself uses the scope, and may evict another.
fn is_new(scopes: &ScopedRetryStrategy<u32>, key: u32) -> bool {
    scopes.scope(&key).quota().available() == 500
}

// Rule S1.
#[test]
fn each_key_has_its_own_state() {
    static SCOPES: ScopedRetryStrategy<String, StandardRetryStrategy> =
        ScopedRetryStrategy::new(StandardRetryStrategy::new);
    assert!(SCOPES.is_empty());
    pay(&SCOPES.scope("one"));
    pay(&SCOPES.scope("two"));
    pay(&SCOPES.scope(&"two".to_owned()));
    let left = ["one", "two", "three"].map(|key| SCOPES.scope(key).quota().available());
    assert_eq!(left, [495, 490, 500]);
    assert_eq!(SCOPES.len(), 3);
    assert!(!SCOPES.is_empty());
}

#[test]
fn a_key_is_anything_that_hashes() {
    let pairs = ScopedRetryStrategy::<(u8, &'static str), _>::new(standard);
    pay(&pairs.scope(&(1, "table")));
    assert_eq!(pairs.scope(&(1, "table")).quota().available(), 495);
    assert_eq!(pairs.scope(&(2, "table")).quota().available(), 500);

    let slices = ScopedRetryStrategy::<Vec<u8>, _>::new(standard);
    pay(&slices.scope(&[1, 2][..]));
    assert_eq!(slices.scope(&[1, 2][..]).quota().available(), 495);
    assert_eq!(slices.scope(&[1][..]).quota().available(), 500);
}

// Rules R13, S2.
#[test]
fn handles_of_one_key_share_one_strategy() {
    let scopes = scopes(2);
    let (here, there) = (scopes.scope(&1), scopes.scope(&1));
    assert!(are_one(&here, &there));
    assert_eq!(there.record_success(pay(&here), &Success::default(), CLOCK), Ok(()));
    assert_eq!(here.clone().record_success(pay(&here), &Success::default(), CLOCK), Ok(()));

    let other = scopes.scope(&2);
    assert_eq!(other.record_success(pay(&here), &Success::default(), CLOCK), Err(ForeignToken));
    let refused = other.refresh_retry_token(pay(&here), &Failure::of(&Failed::SAFE), CLOCK);
    assert_eq!(refused.unwrap_err(), RetryError::ForeignToken);
}

// Rule S2.
#[test]
fn a_handle_outlives_the_map() {
    let scope = scopes(1).scope(&1);
    let token = pay(&scope);
    scope.release(token);
    assert_eq!(scope.quota().available(), 500);
}

// Rule S3.
#[test]
fn unused_scopes_beyond_the_bound_are_evicted() {
    let scopes = scopes(5);
    for key in 0..100 {
        mark(&scopes, [key]);
        assert_eq!(scopes.len(), 5.min(key as usize + 1));
    }
    assert_eq!(scopes.max_scopes_setting(), 5);
    assert_eq!(ScopedRetryStrategy::<u32>::new(standard).max_scopes_setting(), 1024);
}

// Rule S3.
#[test]
fn the_least_recently_used_scope_is_evicted_first() {
    let expected = [(&[][..], 1), (&[1], 2), (&[1, 2], 3), (&[3, 2, 1], 3), (&[2, 1, 3], 2), (&[2, 2, 1, 1, 1], 3)];
    for (used, goes) in expected {
        for stays in (1..=3).filter(|key| *key != goes) {
            let scopes = scopes(3);
            mark(&scopes, [1, 2, 3]);
            mark(&scopes, used.iter().copied());
            mark(&scopes, [4]);
            assert!(!is_new(&scopes, stays), "{stays} after {used:?}");
            assert!(is_new(&scopes, goes), "{goes} after {used:?}");
        }
    }
}

// Rule S3.
#[test]
fn the_order_of_eviction_is_exact_for_any_sequence_of_uses() {
    const BOUND: usize = 8;
    let scopes = scopes(BOUND);
    // A simple model: the least recently used key comes first.
    let mut model: Vec<u32> = Vec::new();
    let mut random = 1_u32;
    for _ in 0..5_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let key = (random >> 16) % 12;
        let known = model.iter().position(|other| *other == key).map(|at| model.remove(at));
        if known.is_none() && model.len() == BOUND {
            model.remove(0);
        }
        model.push(key);
        let scope = scopes.scope(&key);
        assert_eq!(scope.quota().available() == 500, known.is_none());
        // Pay only once, so that the quota is never exhausted.
        if known.is_none() {
            pay(&scope);
        }
    }
    assert_eq!(scopes.len(), BOUND);
}

// Rule S4.
#[test]
fn a_scope_in_use_is_never_evicted() {
    let scopes = scopes(2);
    let held = scopes.scope(&1);
    let clone = held.clone();
    let token = pay(&held);
    drop(held);
    mark(&scopes, 2..50);
    assert_eq!(scopes.len(), 2);
    let again = scopes.scope(&1);
    assert_eq!(again.quota().available(), 495, "the clone kept the scope in use");
    clone.release(token);
    assert_eq!(again.quota().available(), 500, "the refund went to the quota that paid");
}

// Rule S4.
#[test]
fn the_bound_is_exceeded_only_while_all_scopes_are_in_use() {
    let scopes = scopes(2);
    let held: Vec<_> = (0..5).map(|key| scopes.scope(&key)).collect();
    assert_eq!(scopes.len(), 5);
    assert!((0..5).zip(&held).all(|(key, scope)| are_one(&scopes.scope(&key), scope)));
    drop(held);
    assert_eq!(scopes.len(), 5, "dropping a handle does not evict");
    mark(&scopes, [9]);
    assert_eq!(scopes.len(), 2, "the next new key evicts");
}

#[test]
fn a_map_far_above_its_bound_shrinks_once_its_scopes_are_unused() {
    let scopes = scopes(100);
    let held: Vec<_> = (0..6_400).map(|key| scopes.scope(&key)).collect();
    assert_eq!(scopes.len(), 6_400);
    drop(held);
    mark(&scopes, 10_000..10_101);
    assert_eq!(scopes.len(), 100);
}

// Rule S4.
#[test]
fn a_map_whose_scopes_are_nearly_all_in_use_searches_again_when_it_has_grown_by_a_64th() {
    for (bound, admitted) in [(62, 0), (63, 1), (126, 1), (127, 2), (190, 2), (191, 3)] {
        let scopes = scopes(bound);
        let (keys, more) = (u32::try_from(bound).unwrap(), u32::try_from(bound + 1).unwrap());
        let mut held: Vec<_> = (0..more).map(|key| scopes.scope(&key)).collect();
        assert_eq!(scopes.len(), bound + 1, "all are in use, as a search has found");
        held.swap_remove(0);
        for new in 1..=admitted {
            scopes.scope(&(keys + new));
            assert_eq!(scopes.len(), bound + 1 + new as usize);
        }
        scopes.scope(&(keys + admitted + 1));
        assert_eq!(scopes.len(), bound + 1, "{admitted} more keys were admitted without a search");
    }
}

#[test]
fn an_invalid_bound_is_refused() {
    let error = scopes(1).try_max_scopes(0).unwrap_err();
    assert_eq!(error.setting(), "max_scopes");
    assert_eq!(scopes(1).try_max_scopes(7).unwrap().max_scopes_setting(), 7);
    let built = std::panic::catch_unwind(|| scopes(0).max_scopes_setting());
    assert!(built.is_err());
}

#[test]
fn handle_and_map_implement_debug() {
    let scopes = scopes(3);
    assert!(format!("{:?}", scopes.scope(&1)).starts_with("Scope(StandardRetryStrategy {"));
    assert_eq!(format!("{scopes:?}"), "ScopedRetryStrategy { max_scopes: 3, len: 1, .. }");
}

thread_local! {
    static COPIES: Cell<u32> = const { Cell::new(0) };
}

/// A key that counts its clones. Counting allocations would need an allocator, and so unsafe code. A lookup could
/// allocate only the key and a strategy.
#[derive(PartialEq, Eq, Hash)]
struct Counted(u32);

impl Clone for Counted {
    fn clone(&self) -> Self {
        COPIES.set(COPIES.get() + 1);
        Self(self.0)
    }
}

// Rule S5.
#[test]
fn a_lookup_clones_the_key_and_makes_a_strategy_only_for_a_new_key() {
    thread_local! {
        static MADE: Cell<u32> = const { Cell::new(0) };
    }
    let scopes = ScopedRetryStrategy::<Counted, _>::new(|| {
        MADE.set(MADE.get() + 1);
        standard()
    });
    for _ in 0..10 {
        scopes.scope(&Counted(1));
        scopes.scope(&Counted(2));
    }
    assert_eq!((COPIES.get(), MADE.get()), (2, 2));
}
