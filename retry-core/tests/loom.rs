//! Models that loom runs with every interleaving of a few threads, within bounds. Run them with `.ci/loom`.
#![cfg(loom)]

#[path = "loom/blocking.rs"]
mod blocking;
#[path = "loom/early_wake.rs"]
mod early_wake;
#[path = "loom/evidence.rs"]
mod evidence;
#[path = "loom/hedge.rs"]
mod hedge;
#[path = "loom/patient.rs"]
mod patient;
#[path = "loom/stop.rs"]
mod stop;

use loom::sync::Arc;
use loom::thread;
use retry_core::limit::Ready;
use retry_core::time::Timestamp;
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErrorInfo, Failure, Jitter, RetryInfo, RetryQuota, RetrySafety, RetryStrategy,
    ScopedRetryStrategy, StandardRetryStrategy, Success, TokenBucket,
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

/// Creates a value that threads share. Formatting it first initializes its atomics before any thread starts.
fn shared<T: std::fmt::Debug>(value: T) -> Arc<T> {
    let _ = format!("{value:?}");
    Arc::new(value)
}

/// Runs an action in three threads at once, of which this is one.
fn in_three<S, T>(shared: &Arc<S>, action: impl Fn(&S) -> T + Copy + Send + 'static) -> [T; 3]
where
    S: Send + Sync + 'static,
    T: Send + 'static,
{
    let threads = [(); 2].map(|()| {
        let other = Arc::clone(shared);
        thread::spawn(move || action(&other))
    });
    let here = action(shared);
    let [second, third] = threads.map(|thread| thread.join().unwrap());
    [here, second, third]
}

/// Returns for how many threads something is true.
fn count(outcomes: [bool; 3]) -> u32 {
    outcomes.map(u32::from).iter().sum()
}

// Rules Q1, Q2.
#[test]
fn a_quota_is_never_overdrawn() {
    loom::model(|| {
        let bucket = shared(TokenBucket::new(13));
        let paid = in_three(&bucket, |bucket| bucket.try_acquire(5, &ByHand::default()));
        assert_eq!(count(paid), 2, "exactly two of the three are granted");
        assert_eq!(bucket.available(), 3);
    });
}

// Rules Q1, Q2.
#[test]
fn no_refund_is_lost_and_none_exceeds_the_capacity() {
    loom::model(|| {
        let bucket = shared(TokenBucket::new(10));
        assert!(bucket.try_acquire(8, &ByHand::default()));
        in_three(&bucket, |bucket| {
            bucket.refund(2);
            assert!(bucket.available() <= 10);
        });
        assert_eq!(bucket.available(), 8);
    });
    loom::model(|| {
        let bucket = shared(TokenBucket::new(10));
        assert!(bucket.try_acquire(5, &ByHand::default()));
        in_three(&bucket, |bucket| bucket.refund(3));
        assert_eq!(bucket.available(), 10);
    });
}

#[test]
fn a_payment_and_a_refund_balance() {
    loom::model(|| {
        let bucket = shared(TokenBucket::new(10));
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&bucket);
            thread::spawn(move || {
                if other.try_acquire(4, &ByHand::default()) {
                    other.refund(4);
                }
            })
        });
        let paid = bucket.try_acquire(4, &ByHand::default());
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(bucket.available(), if paid { 6 } else { 10 });
    });
}

// Rule Q7.
#[test]
fn a_period_is_refilled_once() {
    loom::model(|| {
        let bucket = shared(TokenBucket::new(10).refill(3, Duration::from_secs(1)));
        assert!(bucket.try_acquire(10, &ByHand::at(100)));
        let paid = in_three(&bucket, |bucket| bucket.try_acquire(2, &ByHand::at(101)));
        assert_eq!(bucket.available() + 2 * count(paid), 3, "the period was refilled once");
    });
}

/// Returns a strategy that limits sends to 0.5 per second, and a clock at which no send is available.
fn limiting() -> (Arc<AdaptiveRetryStrategy>, Arc<ByHand>) {
    let clock = Arc::new(ByHand::at(1000));
    let standard = StandardRetryStrategy::new().jitter(Jitter::None);
    let strategy = shared(AdaptiveRetryStrategy::over(standard));
    throttle(&strategy, &clock);
    (strategy, clock)
}

fn throttle(strategy: &AdaptiveRetryStrategy, clock: &ByHand) {
    let token = strategy.acquire_initial_token(clock).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Throttled), clock).unwrap_err();
}

#[test]
fn a_throttled_response_is_recorded_while_another_operation_begins() {
    loom::model(|| {
        let clock = Arc::new(ByHand::at(1000));
        let strategy = shared(AdaptiveRetryStrategy::new());
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || throttle(&other, &time));
        let mut token = strategy.acquire_initial_token(&*clock).unwrap();
        let ready = strategy.ready(&mut token, &*clock, None);
        thread.join().unwrap();
        assert_eq!(strategy.send_rate(), Some(0.5));
        if ready == Ready::Now {
            strategy.record_success(token, &Success::default(), &*clock).unwrap();
        } else {
            strategy.release(token);
        }
    });
}

#[test]
fn each_send_is_granted_once_and_no_waiter_is_forgotten() {
    loom::model(|| {
        let (strategy, clock) = limiting();
        // One send becomes available.
        clock.advance(Duration::from_secs(2));
        let both = Arc::new((Arc::clone(&strategy), Arc::clone(&clock)));
        let asked = in_three(&both, |(strategy, clock)| {
            let mut token = strategy.acquire_initial_token(&**clock).unwrap();
            (strategy.ready(&mut token, &**clock, None) == Ready::Now, token)
        });
        let (sent, waiting): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(is_sent, _)| *is_sent);
        assert_eq!(sent.len(), 1, "exactly one of the three is granted");

        // One of the waiters gets the next send.
        clock.advance(Duration::from_millis(100));
        clock.advance(Duration::from_millis(1900));
        let ready = waiting.into_iter().map(|(_, mut token)| (strategy.ready(&mut token, &*clock, None), token));
        let ready: Vec<_> = ready.collect();
        assert_eq!(ready.iter().filter(|(ready, _)| *ready == Ready::Now).count(), 1);
    });
}

// Rule A10.
#[test]
fn a_new_operation_does_not_overtake_a_waiter() {
    loom::model(|| {
        let (strategy, clock) = limiting();
        let mut waiting = strategy.acquire_initial_token(&*clock).unwrap();
        assert_ne!(strategy.ready(&mut waiting, &*clock, None), Ready::Now);
        // One send becomes available, and the waiter is not late yet.
        clock.advance(Duration::from_millis(2000));
        let threads = [(); 2].map(|()| {
            let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
            thread::spawn(move || {
                let mut newcomer = other.acquire_initial_token(&*time).unwrap();
                other.ready(&mut newcomer, &*time, None)
            })
        });
        assert_eq!(strategy.ready(&mut waiting, &*clock, None), Ready::Now);
        threads.into_iter().for_each(|thread| assert_ne!(thread.join().unwrap(), Ready::Now));
    });
}

#[test]
fn a_waiter_that_leaves_while_another_asks_does_not_block_it() {
    loom::model(|| {
        let (strategy, clock) = limiting();
        let mut leaving = strategy.acquire_initial_token(&*clock).unwrap();
        assert_ne!(strategy.ready(&mut leaving, &*clock, None), Ready::Now);
        clock.advance(Duration::from_millis(2000));
        let other = Arc::clone(&strategy);
        let thread = thread::spawn(move || other.release(leaving));
        let mut token = strategy.acquire_initial_token(&*clock).unwrap();
        let before = strategy.ready(&mut token, &*clock, None);
        thread.join().unwrap();
        // The other waiter may have been ahead at that moment. It has left now.
        if before != Ready::Now {
            assert_eq!(strategy.ready(&mut token, &*clock, None), Ready::Now);
        }
    });
}

#[test]
fn a_waiter_that_never_asks_again_is_passed_over() {
    loom::model(|| {
        let (strategy, clock) = limiting();
        let mut unpolled = strategy.acquire_initial_token(&*clock).unwrap();
        assert_ne!(strategy.ready(&mut unpolled, &*clock, None), Ready::Now);
        clock.advance(Duration::from_secs(5));
        let asked = in_three(&Arc::new((strategy, clock)), |(strategy, clock)| {
            let mut token = strategy.acquire_initial_token(&**clock).unwrap();
            strategy.ready(&mut token, &**clock, None) == Ready::Now
        });
        assert_eq!(count(asked), 1, "the bucket holds one send");
    });
}

type Scopes = ScopedRetryStrategy<u64>;

fn scopes(max_scopes: usize) -> Arc<Scopes> {
    shared(ScopedRetryStrategy::new(StandardRetryStrategy::new).max_scopes(max_scopes))
}

// Rule S5.
#[test]
fn a_new_key_gets_one_strategy_when_three_threads_ask_for_it() {
    loom::model(|| {
        let scopes = scopes(2);
        let [first, second, third] = in_three(&scopes, |scopes| scopes.scope(&7));
        assert!(std::ptr::eq(&raw const *first, &raw const *second));
        assert!(std::ptr::eq(&raw const *first, &raw const *third));
        assert_eq!(scopes.len(), 1);
    });
}

// Rule S4.
#[test]
fn a_scope_in_use_is_not_evicted_while_others_come_and_go() {
    loom::model(|| {
        let scopes = scopes(1);
        let held = scopes.scope(&1);
        let threads = [2, 5].map(|key| {
            let other = Arc::clone(&scopes);
            thread::spawn(move || drop(other.scope(&key)))
        });
        drop(scopes.scope(&3));
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert!(std::ptr::eq(&raw const *scopes.scope(&1), &raw const *held));
        drop(held);
        drop(scopes.scope(&4));
        assert_eq!(scopes.len(), 1, "the bound is exceeded only while scopes are in use");
    });
}

// Rules S3, S4.
#[test]
fn a_scope_that_a_thread_has_looked_up_before_is_evicted_unless_it_is_in_use() {
    loom::model(|| {
        let scopes = scopes(1);
        drop(scopes.scope(&1));
        let other = Arc::clone(&scopes);
        let thread = thread::spawn(move || {
            // The second lookup does not need the map, unless the scope was evicted in between.
            drop(other.scope(&1));
            other.scope(&1)
        });
        // A new key evicts the scope of the other thread, if that thread does not use it.
        drop(scopes.scope(&2));
        let held = thread.join().unwrap();
        assert!(std::ptr::eq(&raw const *scopes.scope(&1), &raw const *held));
        drop(held);
        drop(scopes.scope(&3));
        assert_eq!(scopes.len(), 1, "lookups of the past do not count as use");
    });
}

// Rules S3, S4.
#[test]
fn a_scope_that_a_thread_looks_up_repeatedly_is_evicted_unless_it_is_in_use() {
    loom::model(|| {
        let scopes = scopes(1);
        for _ in 0..2 {
            drop(scopes.scope(&1));
        }
        let other = Arc::clone(&scopes);
        let thread = thread::spawn(move || {
            drop(other.scope(&1));
            drop(other.scope(&1));
            // This lookup compares the key with that of the lookups before, unless the scope was evicted in between.
            let held = other.scope(&1);
            // This one compares it in vain. The comparison leaves no use behind.
            drop(other.scope(&2));
            held
        });
        drop(scopes.scope(&2));
        let held = thread.join().unwrap();
        assert!(std::ptr::eq(&raw const *scopes.scope(&1), &raw const *held));
        drop(held);
        drop(scopes.scope(&3));
        assert_eq!(scopes.len(), 1, "lookups of the past do not count as use");
    });
}
