//! Scopes that several threads use at the same time.

use super::{CLOCK, are_one, pay, standard};
use crate::support::Failed;
use retry_core::strategy::StandardRetrySettings;
use retry_core::{
    BackoffStrategy, Failure, RetryErrorType, RetryQuota, RetryStrategy, ScopedRetryStrategy, StandardRetryStrategy,
    TokenBucket,
};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

// Rule S5.
#[test]
fn two_threads_that_add_the_same_key_get_one_strategy() {
    /// A backoff that counts its drops.
    struct Steady;
    impl BackoffStrategy for Steady {
        fn compute_next_backoff_delay(&self, _: u32, _: RetryErrorType) -> Duration {
            Duration::ZERO
        }
    }
    impl Drop for Steady {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    static DROPPED: AtomicU32 = AtomicU32::new(0);
    static BOTH_MAKE: Barrier = Barrier::new(2);
    static SCOPES: ScopedRetryStrategy<u32, StandardRetryStrategy<Steady>> = ScopedRetryStrategy::new(|| {
        BOTH_MAKE.wait();
        StandardRetryStrategy::from_parts(StandardRetrySettings::new(), Steady, TokenBucket::new(500))
    });

    let [here, there] = [(); 2].map(|()| std::thread::spawn(|| SCOPES.scope(&1))).map(|thread| thread.join().unwrap());
    assert!(are_one(&here, &there));
    assert_eq!((SCOPES.len(), DROPPED.load(Ordering::Relaxed)), (1, 1));
}

#[test]
fn a_scope_in_use_is_kept_while_other_threads_evict_others() {
    const HELD: u32 = 3;
    static SCOPES: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(standard).max_scopes(4);
    let held: Vec<_> = (0..HELD).map(|key| SCOPES.scope(&key)).collect();
    std::thread::scope(|threads| {
        for thread in 1..=3 {
            let held = &held;
            threads.spawn(move || {
                for round in 0..2_000 {
                    SCOPES.scope(&(1_000 * thread + round % 7));
                    let key = round % HELD;
                    assert!(are_one(&SCOPES.scope(&key), &held[key as usize]));
                }
            });
        }
    });
    SCOPES.scope(&u32::MAX);
    assert_eq!(SCOPES.len(), 4);
    for (key, scope) in (0..).zip(&held) {
        pay(scope);
        assert_eq!(SCOPES.scope(&key).quota().available(), 495);
    }
}

#[test]
fn tokens_are_never_foreign_while_a_handle_is_held() {
    const KEYS: usize = 6;
    static SCOPES: ScopedRetryStrategy<usize> = ScopedRetryStrategy::new(standard).max_scopes(2);

    std::thread::scope(|threads| {
        for thread in 0..4 {
            threads.spawn(move || {
                for round in 0..2_000 {
                    let key = (thread + round * (thread + 1)) % KEYS;
                    let scope = SCOPES.scope(&key);
                    let token = scope.acquire_initial_token(CLOCK).unwrap();
                    let token = scope.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap();
                    assert!(scope.quota().available() < 500, "the paid cost is missing until it is refunded");
                    let again = SCOPES.scope(&key);
                    assert!(are_one(&scope, &again));
                    again.release(token);
                }
            });
        }
    });
    SCOPES.scope(&KEYS);
    assert_eq!(SCOPES.len(), 2, "none of the scopes is in use now");
    for key in 0..KEYS {
        assert_eq!(SCOPES.scope(&key).quota().available(), 500, "every cost was refunded");
    }
}
