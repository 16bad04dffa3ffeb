//! Those who wait for a send: their order, their lateness, and what becomes of their sends.

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
        // The last ones ask first.
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
fn a_newcomer_does_not_overtake_those_who_wait() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    let mut first = new_token(&strategy, &clock);
    let wait = ask(&strategy, &clock, &mut first).unwrap();
    clock.advance(wait);
    let second = ask(&strategy, &clock, &mut first).unwrap();
    clock.advance(second);
    // A send is due now, but it is not for the newcomer.
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some());
    assert_eq!(ask(&strategy, &clock, &mut first), None);
}

// Rules A9, A13.
#[test]
fn a_waiter_that_goes_away_leaves_its_place_and_nothing_else() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    for _ in 0..1000 {
        let mut token = new_token(&strategy, &clock);
        assert!(ask(&strategy, &clock, &mut token).is_some());
        strategy.release(token);
    }
    let interval = Duration::from_secs_f64(1.0 / strategy.send_rate().unwrap());
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited <= interval + millis(1), "nothing was charged for those who left: {waited:?}");
}

// Rule A12.
#[test]
fn the_send_of_a_waiter_that_is_late_is_kept_for_it_and_those_behind_go_on() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut sleeper = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut sleeper).is_some());
    // The first send is the sleeper's, the next ones are for those behind: nothing is lost, and they wait for it once.
    for seconds in [4, 2, 2] {
        let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
        assert!(waited.abs_diff(secs(seconds)) <= millis(1), "{waited:?}");
    }
    assert_eq!(ask(&strategy, &clock, &mut sleeper), None, "whenever it asks");
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited.abs_diff(secs(2)) <= millis(1), "and it is charged once: {waited:?}");
}

// Rules A12, A13.
#[test]
fn a_kept_send_comes_back_when_its_waiter_leaves_or_is_gone_for_long() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut leaving = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut leaving).is_some());
    clock.advance(millis(2050));
    let mut behind = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut behind).is_some(), "kept for the one ahead");
    strategy.release(leaving);
    assert_eq!(ask(&strategy, &clock, &mut behind), None);

    let mut dead = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut dead).is_some());
    clock.advance(millis(2050));
    let mut behind = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut behind).is_some());
    clock.advance(secs(11));
    // Two seconds fill one send, which is as much as the bucket holds at this rate.
    assert_eq!(ask(&strategy, &clock, &mut behind), None);
    let waited = wait_for(&strategy, &clock, &mut new_token(&strategy, &clock));
    assert!(waited.abs_diff(secs(2)) <= millis(1), "the dead one is in nobody's way any more: {waited:?}");
    let waited = wait_for(&strategy, &clock, &mut dead);
    assert!(waited <= secs(2), "and has kept its place: {waited:?}");
}

// Rule A12.
#[test]
fn a_waiter_that_is_late_beyond_the_grace_is_passed_over() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    let mut sleepers = [(); 3].map(|()| new_token(&strategy, &clock));
    for sleeper in &mut sleepers {
        assert!(ask(&strategy, &clock, sleeper).is_some());
    }
    // Nobody asks until they are all late by more than an interval, which is the grace at this rate.
    clock.advance(millis(2150));
    assert_eq!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)), None);
    // Within the grace, none of them would have been passed over.
    let strategy = slowest(&clock);
    let mut sleeper = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut sleeper).is_some());
    clock.advance(millis(2090));
    assert!(ask(&strategy, &clock, &mut new_token(&strategy, &clock)).is_some());

    // It keeps its place: whoever asks later comes later.
    let mut newcomer = new_token(&strategy, &clock);
    assert!(ask(&strategy, &clock, &mut newcomer).is_some());
    assert_eq!(ask(&strategy, &clock, &mut sleeper), None);
}

// Rule A12.
#[test]
fn however_late_a_waiter_always_is_it_is_served_and_costs_the_others_nothing() {
    for (rate, lateness) in [(0.5, 2500), (0.5, 1500), (7.0, 150), (7.0, 400)] {
        let clock = ByHand::at(secs(100_000));
        let strategy = if rate < 1.0 { slowest(&clock) } else { limiting(&clock) };
        let started = clock.time();
        // Each waiter, and when it asks next. The first one is always late.
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
fn an_operation_that_does_not_wait_to_the_end_leaves_no_place_behind() {
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
fn a_send_that_was_granted_and_is_not_made_comes_back() {
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
/// The trap: whoever keeps a wait that was computed at an old rate waits for far too long.
#[test]
fn a_waiter_learns_of_a_new_rate() {
    let clock = ByHand::at(secs(100_000));
    let strategy = slowest(&clock);
    // Half a send per second, and fifty waiters: the last one would have to wait for 100 seconds. Each sleeps as told.
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
        // Each that goes is answered, so that the rate grows.
        for _ in 0..granted {
            respond(&strategy, &clock, None);
        }
    }
    let took = clock.time().abs_diff(started);
    assert!(took < secs(30), "{took:?}");
}

// Rules A10, A13.
#[test]
fn sends_that_come_back_go_to_those_who_wait_and_not_to_a_newcomer() {
    let clock = ByHand::at(secs(100_000));
    let strategy = limiting(&clock);
    clock.advance(millis(500));
    // Three sends came in, and were granted.
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
    assert!(ask(&strategy, &clock, &mut newcomer).is_some(), "three came back, and five wait for them");
    let served: Vec<bool> = waiters.iter_mut().map(|token| ask(&strategy, &clock, token).is_none()).collect();
    assert_eq!(served, [true, true, true, false, false]);
}
