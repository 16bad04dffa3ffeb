//! Models of settings that change while threads use a strategy. Loom runs them with every interleaving of a few threads, within
//! bounds. Run them with `.ci/loom`.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode, ScopedRetryConfig};
use retry_core::limit::Ready;
use retry_core::strategy::Refund;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, ErrorInfo, Failure, Jitter, RetryInfo, RetryQuota, RetrySafety, RetryStrategy, RetryToken,
    ScopedRetryStrategy, StandardRetryStrategy, Success,
};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A clock that the model advances. It is not checked itself, so it uses an atomic of the standard library.
#[derive(Default)]
struct ByHand(AtomicU64);

impl ByHand {
    fn at(seconds: u64) -> Self {
        Self(AtomicU64::new(seconds * 1000))
    }

    fn advance(&self, time: Duration) {
        self.0.fetch_add(u64::try_from(time.as_millis()).unwrap() + 1, Ordering::SeqCst);
    }
}

impl Clock for ByHand {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(self.0.load(Ordering::SeqCst)))
    }
}

/// Runs a model in a thread whose stack has room for strategies, which are made and moved on it. The usual 32 KiB are not enough. The size is in
/// words.
fn model(body: impl Fn() + Send + Sync + 'static) {
    let body = std::sync::Arc::new(body);
    loom::model(move || {
        let body = std::sync::Arc::clone(&body);
        thread::Builder::new().stack_size(1 << 14).spawn(move || body()).unwrap().join().unwrap();
    });
}

/// Creates a value that threads share. Formatting it first initializes its atomics before any thread starts.
fn shared<T: std::fmt::Debug>(value: T) -> Arc<T> {
    let _ = format!("{value:?}");
    Arc::new(value)
}

struct Throttled;

impl ErrorInfo for Throttled {}

impl RetryInfo for Throttled {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::No
    }

    fn is_throttle(&self) -> bool {
        true
    }
}

struct Safe;

impl ErrorInfo for Safe {}

impl RetryInfo for Safe {
    fn is_retry_safe(&self) -> RetrySafety {
        RetrySafety::Yes
    }
}

/// Settings with a capacity, without jitter, and with a refund of what was paid.
fn settings(capacity: u32) -> RetryConfig {
    let config = RetryConfig::new().quota_capacity(capacity).refunds(0, Refund::LastCost);
    config.try_jitter(Jitter::None).unwrap()
}

/// Returns a strategy with a capacity of 10 and this balance.
fn with_balance(balance: u32) -> Arc<ConfiguredStrategy> {
    let strategy = shared(settings(10).build_on(StandardRetryStrategy::new()).unwrap());
    assert!(strategy.quota().try_acquire(10 - balance, &ByHand::default()));
    strategy
}

/// Refunds to a balance of 5 of 10 while the capacity changes to 20, and returns the balance.
fn refunded_during_a_change(amount: u32) -> u32 {
    let strategy = with_balance(5);
    let other = Arc::clone(&strategy);
    let thread = thread::spawn(move || other.quota().refund(amount));
    strategy.apply(&settings(20), &ByHand::default()).unwrap();
    thread.join().unwrap();
    let left = strategy.quota().available();
    strategy.quota().refund(20);
    assert_eq!((strategy.quota().available(), strategy.quota().capacity()), (20, 20));
    left
}

// Rule C20.
#[test]
fn no_refund_is_lost_or_cut_to_the_old_capacity_while_the_capacity_changes() {
    // A refund counts before the change, in proportion, or after it, in full.
    model(|| assert!([16, 13].contains(&refunded_during_a_change(3))));
    model(|| assert!([20, 18].contains(&refunded_during_a_change(8))));
}

// Rule C20.
#[test]
fn a_payment_and_a_change_of_the_capacity_do_not_mix() {
    model(|| {
        let strategy = with_balance(6);
        let other = Arc::clone(&strategy);
        let thread = thread::spawn(move || {
            let paid = other.quota().try_acquire(4, &ByHand::default());
            assert!(other.quota().available() <= 10, "never above either capacity, never below zero");
            paid
        });
        strategy.apply(&settings(5), &ByHand::default()).unwrap();
        let paid = thread.join().unwrap();
        let left = strategy.quota().available();
        // 6 of 10 are 3 of 5, which do not pay 4; and 2 of 10 are 1 of 5.
        assert_eq!(left, if paid { 1 } else { 3 });
    });
}

// Rule C20.
#[test]
fn payments_refunds_and_a_change_stay_within_the_capacity() {
    model(|| {
        let strategy = with_balance(10);
        let (payer, giver) = (Arc::clone(&strategy), Arc::clone(&strategy));
        let payer = thread::spawn(move || u32::from(payer.quota().try_acquire(5, &ByHand::default())) * 5);
        let giver = thread::spawn(move || giver.quota().refund(3));
        strategy.apply(&settings(4), &ByHand::default()).unwrap();
        let paid = payer.join().unwrap();
        giver.join().unwrap();
        let left = strategy.quota().available();
        assert!(left <= 4);
        if paid == 0 {
            assert_eq!(left, 4, "nothing was paid, so the quota is full");
        } else {
            // 5 of 10 are 2 of 4, and with the refund 8 of 10 are 3 of 4 before the change, or 4 of 4 after it.
            assert!((2..=4).contains(&left), "{left}");
        }
    });
}

// Rules C19, C20.
#[test]
fn a_token_is_valid_while_the_mode_changes_and_its_payment_comes_back() {
    for mode in [RetryMode::Adaptive, RetryMode::Paced] {
        token_while_the_mode_changes(mode);
    }
}

fn token_while_the_mode_changes(mode: RetryMode) {
    model(move || {
        let clock = ByHand::at(1000);
        let strategy = shared(settings(10).build_on(StandardRetryStrategy::new()).unwrap());
        let other = Arc::clone(&strategy);
        let thread = thread::spawn(move || {
            let clock = ByHand::at(1000);
            let token = other.acquire_initial_token(&clock).unwrap();
            let token = other.refresh_retry_token(token, &Failure::of(&Safe), &clock).unwrap();
            assert_eq!(token.attempt(), 2);
            other.record_success(token, &Success::default(), &clock).unwrap();
        });
        strategy.apply(&settings(10).mode(mode).paced_ramp(false), &ByHand::default()).unwrap();
        thread.join().unwrap();
        assert_eq!(strategy.quota().available(), 10);
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut token, &clock, None).wait(), None, "nothing was throttled");
        strategy.record_success(token, &Success::default(), &clock).unwrap();
    });
}

// Rule C19.
#[test]
fn three_changes_at_once_do_not_mix() {
    model(|| {
        let strategy = shared(settings(10).build_on(StandardRetryStrategy::new()).unwrap());
        let threads = [(20, 2, RetryMode::Off), (40, 4, RetryMode::Paced)].map(|(capacity, attempts, mode)| {
            let other = Arc::clone(&strategy);
            let change = settings(capacity).try_max_attempts(attempts).unwrap().mode(mode);
            thread::spawn(move || other.apply(&change, &ByHand::default()).unwrap())
        });
        strategy
            .apply(&settings(30).try_max_attempts(3).unwrap().mode(RetryMode::Adaptive), &ByHand::default())
            .unwrap();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        let now = (strategy.settings().max_attempts, strategy.quota().available(), strategy.mode());
        let expected = [(2, 20, RetryMode::Off), (3, 30, RetryMode::Adaptive), (4, 40, RetryMode::Paced)];
        assert!(expected.contains(&now), "{now:?}");
    });
}

// Rule C19.
#[test]
fn a_place_in_the_queue_of_one_limiter_is_left_while_the_mode_changes() {
    let paced = || settings(10).mode(RetryMode::Paced).paced_ramp(false);
    model(move || {
        let clock = Arc::new(ByHand::at(1000));
        let strategy = shared(paced().build_on(StandardRetryStrategy::new()).unwrap());
        let token = strategy.acquire_initial_token(&*clock).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Throttled), &*clock).unwrap_err();
        let mut waiting = strategy.acquire_initial_token(&*clock).unwrap();
        assert_ne!(strategy.ready(&mut waiting, &*clock, None), Ready::Now);
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || {
            // Sent in the mode standard, or still waiting in the mode paced.
            let _ = other.ready(&mut waiting, &*time, None);
            waiting
        });
        strategy.apply(&settings(10), &ByHand::default()).unwrap();
        strategy.apply(&paced(), &ByHand::default()).unwrap();
        strategy.release(thread.join().unwrap());
        clock.advance(Duration::from_secs(10));
        let mut next = strategy.acquire_initial_token(&*clock).unwrap();
        assert_eq!(strategy.ready(&mut next, &*clock, None), Ready::Now, "nobody is ahead");
    });
}

// Rule C20.
#[test]
fn each_period_counts_once_while_a_retry_asks_and_the_refill_changes() {
    let refilled = |amount| settings(100).try_quota_refill(amount, Duration::from_secs(1)).unwrap();
    model(move || {
        let (strategy, clock) =
            (shared(refilled(10).build_on(StandardRetryStrategy::new()).unwrap()), Arc::new(ByHand::at(1000)));
        assert!(strategy.quota().try_acquire(100, &*clock));
        clock.advance(Duration::from_secs(3));
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || other.quota().try_acquire(30, &*time));
        strategy.apply(&refilled(1), &*clock).unwrap();
        assert!(thread.join().unwrap(), "three periods have ended before both");
        assert_eq!(strategy.quota().available(), 0);
        clock.advance(Duration::from_secs(2));
        assert!(strategy.quota().try_acquire(2, &*clock));
        assert_eq!(strategy.quota().available(), 0);
    });
}

// Rule C20.
#[test]
fn a_refill_that_begins_while_a_retry_asks_counts_from_the_change_on() {
    model(|| {
        let (strategy, clock) =
            (shared(settings(100).build_on(StandardRetryStrategy::new()).unwrap()), Arc::new(ByHand::at(1000)));
        assert!(strategy.quota().try_acquire(100, &*clock));
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || other.quota().try_acquire(1, &*time));
        strategy.apply(&settings(100).try_quota_refill(10, Duration::from_secs(1)).unwrap(), &*clock).unwrap();
        assert!(!thread.join().unwrap());
        clock.advance(Duration::from_secs(4));
        assert!(strategy.quota().try_acquire(40, &*clock));
        assert!(!strategy.quota().try_acquire(1, &*clock));
    });
}

// Rule S9.
#[test]
fn a_scope_that_is_made_while_the_settings_change_has_the_new_ones() {
    model(|| {
        let scopes: ScopedRetryStrategy<u64, ConfiguredStrategy> =
            ScopedRetryStrategy::new(|| settings(10).build_on(StandardRetryStrategy::new()).unwrap());
        let scopes = shared(scopes);
        let other = Arc::clone(&scopes);
        // It makes a strategy, too.
        let thread = thread::Builder::new().stack_size(1 << 14).spawn(move || other.scope(&1)).unwrap();
        ScopedRetryConfig::new(settings(20)).apply_to(&scopes, ByHand::default()).unwrap();
        assert_eq!(thread.join().unwrap().quota().capacity(), 20);
    });
}
