//! The paced strategy: what threads share before and after the first throttling.

use super::{ByHand, Throttled, count, in_three, shared};
use loom::sync::Arc;
use loom::thread;
use retry_core::limit::Ready;
use retry_core::{Failure, RetryStrategy, Success};
use retry_limits::PacedRetryStrategy;
use std::time::Duration;

type Token = <PacedRetryStrategy as RetryStrategy>::Token;

fn begin(strategy: &PacedRetryStrategy, clock: &ByHand) -> (Token, Ready) {
    let mut token = strategy.acquire_initial_token(clock).unwrap();
    let ready = strategy.ready(&mut token, clock, None);
    (token, ready)
}

fn succeed(strategy: &PacedRetryStrategy, clock: &ByHand) {
    let token = strategy.acquire_initial_token(clock).unwrap();
    strategy.record_success(token, &Success::default(), clock).unwrap();
}

fn throttle(strategy: &PacedRetryStrategy, clock: &ByHand, token: Token) {
    strategy.refresh_retry_token(token, &Failure::of(&Throttled), clock).unwrap_err();
}

/// Returns a strategy without the ramp that was throttled at its first request, and a clock at which no send is available.
fn limiting() -> (Arc<PacedRetryStrategy>, Arc<ByHand>) {
    let (strategy, clock) = (shared(PacedRetryStrategy::new().ramp(false)), Arc::new(ByHand::at(1000)));
    let (token, _) = begin(&strategy, &clock);
    throttle(&strategy, &clock, token);
    (strategy, clock)
}

// Rule L6.
#[test]
fn of_three_first_throttlings_one_begins_the_limit_and_the_others_do_not_count() {
    let rate = {
        let (expected, result) = std::sync::mpsc::channel();
        loom::model(move || {
            let (strategy, _) = limiting();
            let _ = expected.send(strategy.send_rate());
        });
        result.recv().unwrap()
    };
    loom::model(move || {
        let (strategy, clock) = (shared(PacedRetryStrategy::new().ramp(false)), Arc::new(ByHand::at(1000)));
        let [(here, _), there @ ..] = [(); 3].map(|()| begin(&strategy, &clock));
        let threads = there.map(|(token, _)| {
            let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
            thread::spawn(move || throttle(&other, &time, token))
        });
        throttle(&strategy, &clock, here);
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(strategy.send_rate(), rate);
        assert_ne!(begin(&strategy, &clock).1, Ready::Now);
    });
}

// Rule L21.
#[test]
fn the_first_operations_end_no_limit_that_began_meanwhile() {
    loom::model(|| {
        let (strategy, clock) = (shared(PacedRetryStrategy::new().ramp(false)), Arc::new(ByHand::at(1000)));
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || {
            let token = other.acquire_initial_token(&*time).unwrap();
            throttle(&other, &time, token);
        });
        let token = strategy.acquire_initial_token(&*clock).unwrap();
        thread.join().unwrap();
        assert!(strategy.send_rate().is_some());
        strategy.release(token);
    });
}

// Rule L2.
#[test]
fn no_accepted_request_is_lost_while_others_ask_for_sends() {
    loom::model(|| {
        let (strategy, clock) = limiting();
        clock.advance(Duration::from_millis(899));
        let (probe, ready) = begin(&strategy, &clock);
        assert_eq!(ready, Ready::Now);
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || {
            succeed(&other, &time);
            succeed(&other, &time);
        });
        succeed(&strategy, &clock);
        let (waiting, _) = begin(&strategy, &clock);
        strategy.release(waiting);
        thread.join().unwrap();
        // Three requests were accepted in 0.9 seconds. The estimate before, the lowest one, weighs as much as four.
        throttle(&strategy, &clock, probe);
        let (rate, estimate) = (strategy.send_rate().unwrap(), (3.0 * 3.0 / 0.9 + 4.0 * 0.2) / 7.0);
        assert!((rate - 0.7 * estimate).abs() < 1e-6, "{rate}");
    });
}

// Rules A9, L9.
#[test]
fn each_send_is_granted_once() {
    loom::model(|| {
        let (strategy, clock) = limiting();
        clock.advance(Duration::from_secs(4));
        let asked = in_three(&Arc::new((strategy, clock)), |(strategy, clock)| begin(strategy, clock));
        let sent = asked.each_ref().map(|(_, ready)| *ready == Ready::Now);
        assert_eq!(count(sent), 1, "exactly one of the three is granted");
    });
}

// Rule L14.
#[test]
fn a_waiting_operation_keeps_its_place_or_is_sent_when_the_limit_ends_and_begins_again() {
    loom::model(|| {
        let (strategy, clock) = (shared(PacedRetryStrategy::new().ramp(false)), Arc::new(ByHand::at(1000)));
        strategy.pace_at(Some(10.0), false, &*clock);
        let (mut waiting, _) = begin(&strategy, &clock);
        let (other, time) = (Arc::clone(&strategy), Arc::clone(&clock));
        let thread = thread::spawn(move || {
            other.pace_at(None, false, &*time);
            other.pace_at(Some(10.0), false, &*time);
        });
        let is_sent = strategy.ready(&mut waiting, &*clock, None) == Ready::Now;
        thread.join().unwrap();
        let (mut newcomer, ready) = begin(&strategy, &clock);
        assert_ne!(ready, Ready::Now);
        clock.advance(Duration::from_millis(101));
        let is_next = strategy.ready(&mut newcomer, &*clock, None) == Ready::Now;
        assert_eq!(is_next, is_sent, "the newcomer is first if nothing waits before it");
        if !is_sent {
            assert_eq!(strategy.ready(&mut waiting, &*clock, None), Ready::Now);
        }
    });
}
