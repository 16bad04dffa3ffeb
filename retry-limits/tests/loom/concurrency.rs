//! Requests in flight: slots that come back while others ask for them, wait for them, or go away.

use super::task::{Endless, Failed, Task};
use super::{ByHand, Throttled};
use loom::thread;
use retry_core::limit::Ready;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{Failure, RetryStrategy, StandardRetryStrategy, Success, retry};
use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy, Pair};
use std::future::ready;
use std::pin::pin;
use std::sync::Arc;

/// Returns a strategy with one slot. It was used once, so its locks exist before the threads.
fn one_slot() -> Arc<ConcurrencyRetryStrategy> {
    slots(1)
}

/// Returns a strategy with so many slots.
fn slots(most: u32) -> Arc<ConcurrencyRetryStrategy> {
    // The random numbers of the process would outlive an execution of the model.
    let limiter = ConcurrencyLimiter::new().max_in_flight(most).seed(1);
    let strategy = Arc::new(ConcurrencyRetryStrategy::with_limiter(StandardRetryStrategy::new().seed(1), limiter));
    let _ = format!("{strategy:?}");
    let mut first = strategy.acquire_initial_token(&ByHand::at(1)).unwrap();
    assert_eq!(strategy.ready(&mut first, &ByHand::at(1), None), Ready::Now);
    drop(first);
    strategy
}

fn operation(strategy: &Arc<ConcurrencyRetryStrategy>) -> impl Future<Output = Result<u32, Failed>> + use<> {
    retry(Arc::clone(strategy), || ready(Ok(1))).timer(Endless).run()
}

// Rules I6, I7.
#[test]
fn a_slot_that_comes_back_wakes_the_operation_that_waits_for_it() {
    loom::model(|| {
        let strategy = one_slot();
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&strategy);
            thread::spawn(move || Task::new().run(pin!(operation(&other))).is_ok())
        });
        assert!(Task::new().run(pin!(operation(&strategy))).is_ok());
        threads.into_iter().for_each(|thread| assert!(thread.join().unwrap()));
        assert_eq!(strategy.limiter().in_flight(), 0);
    });
}

// Rules I6, I7.
#[test]
fn a_waiter_that_goes_away_passes_its_wake_on() {
    loom::model(|| {
        let (strategy, clock) = (one_slot(), ByHand::at(1));
        let mut sent = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut sent, &clock, None), Ready::Now);
        let mut leaving = Box::pin(operation(&strategy));
        assert!(Task::new().poll(leaving.as_mut()).is_pending());
        // The slot comes back while the first waiter goes away, and the second one begins to wait.
        let answered = thread::spawn(move || drop(sent));
        let left = thread::spawn(move || drop(leaving));
        assert!(Task::new().run(pin!(operation(&strategy))).is_ok());
        answered.join().unwrap();
        left.join().unwrap();
        assert_eq!(strategy.limiter().in_flight(), 0);
    });
}

// Rule I2.
#[test]
fn two_pairs_of_the_same_slots_in_another_order_are_both_sent() {
    loom::model(|| {
        let (first, second) = (one_slot(), one_slot());
        let pair = |(a, b): (&Arc<ConcurrencyRetryStrategy>, &Arc<ConcurrencyRetryStrategy>)| {
            let (a, b) = (Arc::clone(a), Arc::clone(b));
            move || {
                let limiters = Pair(a.limiter(), b.limiter());
                let strategy = LimitedRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiters);
                let attempt = retry(&strategy, || ready(Ok::<u32, Failed>(1))).timer(Endless);
                Task::new().run(pin!(attempt.run())).is_ok()
            }
        };
        let thread = thread::spawn(pair((&first, &second)));
        assert!(pair((&second, &first))());
        assert!(thread.join().unwrap());
        assert_eq!((first.limiter().in_flight(), second.limiter().in_flight()), (0, 0));
    });
}

// Rule I6.
#[test]
fn one_of_three_that_ask_at_once_has_the_slot() {
    loom::model(|| {
        let strategy = one_slot();
        let ask = |strategy: &ConcurrencyRetryStrategy| {
            let mut token = strategy.acquire_initial_token(&ByHand::at(1)).unwrap();
            (strategy.ready(&mut token, &ByHand::at(1), None) == Ready::Now, token)
        };
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&strategy);
            thread::spawn(move || ask(&other))
        });
        let mut asked = vec![ask(&strategy)];
        asked.extend(threads.map(|thread| thread.join().unwrap()));
        let (mut sent, _waiting): (Vec<_>, Vec<_>) = asked.into_iter().partition(|(is_sent, _)| *is_sent);
        assert_eq!(sent.len(), 1);
        strategy.record_success(sent.remove(0).1, &Success::default(), &ByHand::at(1)).unwrap();
    });
}

// Rules I6, I7.
#[test]
fn a_slot_that_comes_back_without_the_lock_is_not_lost_while_another_operation_begins_to_wait() {
    loom::model(|| {
        let (strategy, clock) = (slots(2), ByHand::at(1));
        let mut sent = strategy.acquire_initial_token(&clock).unwrap();
        assert_eq!(strategy.ready(&mut sent, &clock, None), Ready::Now);
        // One slot is free. Two operations ask for it while the other one comes back, so one of them may have to wait.
        let other = Arc::clone(&strategy);
        let answered = thread::spawn(move || other.record_success(sent, &Success::default(), &ByHand::at(1)).is_ok());
        let other = Arc::clone(&strategy);
        let second = thread::spawn(move || Task::new().run(pin!(operation(&other))).is_ok());
        assert!(Task::new().run(pin!(operation(&strategy))).is_ok());
        assert!(answered.join().unwrap() && second.join().unwrap());
        assert_eq!(strategy.limiter().in_flight(), 0);
    });
}

// Rule I6.
#[test]
fn two_of_three_that_ask_at_once_have_the_two_slots() {
    loom::model(|| {
        let strategy = slots(2);
        let ask = |strategy: &ConcurrencyRetryStrategy| {
            let mut token = strategy.acquire_initial_token(&ByHand::at(1)).unwrap();
            (strategy.ready(&mut token, &ByHand::at(1), None) == Ready::Now, token)
        };
        let threads = [(); 2].map(|()| {
            let other = Arc::clone(&strategy);
            thread::spawn(move || ask(&other))
        });
        let mut asked = vec![ask(&strategy)];
        asked.extend(threads.map(|thread| thread.join().unwrap()));
        assert_eq!(asked.iter().filter(|(is_sent, _)| *is_sent).count(), 2);
        assert_eq!(strategy.limiter().in_flight(), 2);
        drop(asked);
        assert_eq!(strategy.limiter().in_flight(), 0);
    });
}

// Rules I6, I9.
#[test]
fn a_rejection_closes_the_gate_to_slots_that_are_taken_and_returned_meanwhile() {
    loom::model(|| {
        let (strategy, clock) = (slots(4), ByHand::at(1));
        let ask = |strategy: &ConcurrencyRetryStrategy| {
            let mut token = strategy.acquire_initial_token(&ByHand::at(1)).unwrap();
            assert_eq!(strategy.ready(&mut token, &ByHand::at(1), None), Ready::Now);
            token
        };
        let (rejected, accepted) = (ask(&strategy), ask(&strategy));
        let other = Arc::clone(&strategy);
        let answered =
            thread::spawn(move || other.record_success(accepted, &Success::default(), &ByHand::at(1)).is_ok());
        let other = Arc::clone(&strategy);
        let asked = thread::spawn(move || {
            let mut token = other.acquire_initial_token(&ByHand::at(1)).unwrap();
            other.ready(&mut token, &ByHand::at(1), None) == Ready::Now
        });
        drop(strategy.refresh_retry_token(rejected, &Failure::of(&Throttled), &clock));
        assert!(answered.join().unwrap());
        asked.join().unwrap();
        assert_eq!(strategy.limiter().in_flight(), 0);
        // The rejected request was alone when it was sent, so the window is one. The success adds one if it fills that window.
        assert!(matches!(strategy.limiter().limit(), Some(1 | 2)));
    });
}
