//! Waiters: their order, their lateness, and the sends reserved for them.

use super::{Token, ask, limiting, new_token, respond, slowest, wait_for};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::{Failure, RetryStrategy, Success};
use std::time::Duration;

// Rule A10.
#[test]
fn waiters_are_served_in_the_order_in_which_they_came() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let mut waiters: Vec<(usize, Token)> = (0..20).map(|index| (index, new_token(&strategy, &clock))).collect();
    for (_, token) in &mut waiters {
        assert!(ask(&strategy, &clock, token).is_some());
    }
    let mut served = Vec::new();
    while !waiters.is_empty() {
        clock.advance(millis(5));
        // The last waiters ask first.
        waiters.reverse();
        waiters.retain_mut(|(index, token)| {
            let granted = ask(&strategy, &clock, token).is_none();
            if granted {
                served.push(*index);
            }
            !granted
        });
        waiters.sort_by_key(|(index, _)| *index);
    }
    assert_eq!(served, (0..20).collect::<Vec<_>>());
}

// Rule A10.
#[test]
fn a_new_operation_does_not_overtake_waiters() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let mut first = new_token(&strategy, &clock);
    let wait = ask(&strategy, &clock, &mut first).unwrap();
    clock.advance(wait);
    let second = ask(&strategy, &clock, &mut first).unwrap();
    clock.advance(second);
    // A send is due now, but it belongs to the first waiter.
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some());
    assert_eq!(ask(&strategy, &clock, &mut first), None);
}

// Rules A9, A13.
#[test]
fn a_waiter_that_leaves_is_not_charged() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    for _ in 0..1000 {
        let mut token = new_token(&strategy, &clock);
        assert!(ask(&strategy, &clock, &mut token).is_some());
        strategy.release(token);
    }
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited <= interval + millis(1), "nothing was charged for the waiters that left: {waited:?}");
}

// Rule A12.
#[test]
fn the_send_of_a_late_waiter_is_reserved_and_those_behind_it_continue() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut sleeper = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut sleeper).is_some());
    // The first send is reserved for the sleeper, the next ones go to the waiters behind it: no send is lost, and they
    // wait for the sleeper only once.
    for seconds in [4, 2, 2] {
        let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
        assert!(waited.abs_diff(secs(seconds)) <= millis(1), "{waited:?}");
    }
    assert_eq!(ask(&strategy, &clock, &mut sleeper), None, "it gets its send whenever it asks");
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited.abs_diff(secs(2)) <= millis(1), "its send is charged once: {waited:?}");
}

// Rules A12, A13.
#[test]
fn a_reserved_send_is_returned_when_its_waiter_leaves_or_stays_away_for_long() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut leaving = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut leaving).is_some());
    clock.advance(millis(2050));
    let mut behind = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut behind).is_some(), "it is reserved for the waiter ahead");
    strategy.release(leaving);
    assert_eq!(ask(&strategy, &clock, &mut behind), None);

    let mut dead = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut dead).is_some());
    clock.advance(millis(2050));
    let mut behind = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut behind).is_some());
    clock.advance(secs(11));
    // One send becomes available in two seconds, which is the capacity at this rate.
    assert_eq!(ask(&strategy, &clock, &mut behind), None);
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited.abs_diff(secs(2)) <= millis(1), "the dead waiter does not block others any more: {waited:?}");
    let waited = wait_for(&strategy, &clock, &mut dead);
    assert!(waited <= secs(2), "the dead waiter has kept its place: {waited:?}");
}

// Rule A12.
#[test]
fn a_waiter_that_is_late_beyond_the_grace_period_is_passed_over() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut sleepers = [(); 3].map(|()| new_token(&strategy, &clock));
    for sleeper in &mut sleepers {
        assert!(ask(&strategy, &clock, sleeper).is_some());
    }
    // All of them are late by more than an interval, which is the grace period at this rate.
    clock.advance(millis(2150));
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    // Within the grace period, a waiter is not passed over.
    let strategy = slowest(&clock);
    let mut sleeper = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut sleeper).is_some());
    clock.advance(millis(2090));
    assert!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)).is_some());

    // It keeps its place ahead of later operations.
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some());
    assert_eq!(ask(&strategy, &clock, &mut sleeper), None);
}

// Rule A12.
#[test]
fn a_waiter_that_is_always_late_is_served_and_does_not_slow_down_the_others() {
    for (rate, lateness) in [(0.5, 2500), (0.5, 1500), (7.0, 150), (7.0, 400)] {
        let clock = ByHand::at(secs(100_000));
        let strategy = if rate < 1.0 { slowest(&clock) } else { limiting(&clock) };
        let started = clock.time();
        // Each waiter, with the time of its next question. The first waiter is always late.
        let mut waiters: Vec<(Duration, Token)> = (0..6).map(|_| (started, new_token(&strategy, &clock))).collect();
        let (mut sent, mut served) = (0.0, 0);
        while clock.time() < started + secs(120) {
            clock.advance(millis(1));
            for (index, (asks_at, token)) in waiters.iter_mut().enumerate() {
                if *asks_at > clock.time() {
                    continue;
                }
                let wait = ask(&strategy, &clock, token);
                *asks_at = clock.time() + wait.unwrap_or_default();
                if wait.is_none() {
                    sent += 1.0;
                    served += u32::from(index == 0);
                    *token = new_token(&strategy, &clock);
                }
                if index == 0 {
                    *asks_at += millis(lateness);
                }
            }
        }
        let expected = strategy.send_rate().unwrap() * 120.0;
        assert!(
            sent > 0.93 * expected && sent < 1.07 * expected + 1.0,
            "{sent} of {expected} at {rate}, late {lateness}"
        );
        assert!(served >= 3, "served {served} times at {rate}, late {lateness}");
    }
}

// Rule A13.
#[test]
fn an_operation_that_ends_while_it_waits_leaves_the_queue() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let fatal = Failure::of(&Failed::FATAL);
    for _ in 0..2 {
        let [mut fails, mut succeeds] = [(); 2].map(|()| new_token(&strategy, &clock));
        assert!(ask(&strategy, &clock, &mut fails).is_some());
        assert!(ask(&strategy, &clock, &mut succeeds).is_some());
        strategy.refresh_retry_token(fails, &fatal, &clock).unwrap_err();
        strategy.record_success(succeeds, &Success::default(), &clock).unwrap();
    }
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited <= secs(2), "{waited:?}");
}

// Rule A13.
#[test]
fn a_granted_send_that_is_not_made_is_returned() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    clock.advance(secs(2));
    let mut token = new_token(&strategy, &clock);
    assert_eq!(ask(&strategy, &clock, &mut token), None);
    strategy.release(token);
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    assert!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)).is_some());
}

// Rule A11.
/// A waiter that kept a wait computed at an old rate would wait for far too long.
#[test]
fn waits_are_replanned_when_the_rate_changes() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    // At half a send per second, the last of fifty waiters would wait for 100 seconds. Each one asks again after its
    // wait.
    let started = clock.time();
    let mut waiters: Vec<(Duration, Token)> = (0..50).map(|_| (started, new_token(&strategy, &clock))).collect();
    while !waiters.is_empty() {
        clock.advance(millis(5));
        let mut granted = 0;
        waiters.retain_mut(|(asks_at, token)| {
            if *asks_at > clock.time() {
                return true;
            }
            let wait = ask(&strategy, &clock, token);
            *asks_at = clock.time() + wait.unwrap_or_default();
            granted += u32::from(wait.is_none());
            wait.is_some()
        });
        // Each send succeeds, so that the rate grows.
        for _ in 0..granted {
            respond(&strategy, &clock, None);
        }
    }
    let took = clock.time().abs_diff(started);
    assert!(took < secs(30), "{took:?}");
}

// Rules A10, A13.
#[test]
fn returned_sends_go_to_the_waiters_and_not_to_a_new_operation() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    clock.advance(millis(500));
    // Three sends became available and were granted.
    let mut granted = [(); 3].map(|()| new_token(&strategy, &clock));
    for token in &mut granted {
        assert_eq!(ask(&strategy, &clock, token), None);
    }
    let mut waiters = [(); 5].map(|()| new_token(&strategy, &clock));
    for token in &mut waiters {
        assert!(ask(&strategy, &clock, token).is_some());
    }
    for token in granted {
        strategy.release(token);
    }
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some(), "three sends were returned, and five waiters are ahead");
    let served: Vec<bool> = waiters.iter_mut().map(|token| ask(&strategy, &clock, token).is_none()).collect();
    assert_eq!(served, [true, true, true, false, false]);
}
