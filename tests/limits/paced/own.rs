//! Throttling of single operations, and of clients that send less than their rate.

use super::{millis, secs, throttled};
use crate::support::ByHand;
use retry_core::{RetryStrategy, RetryToken, Success};
use retry_limits::{PacedRetryStrategy, PacedRetryToken};
use std::time::Duration;

/// Waits for the turn of an operation.
fn send(strategy: &PacedRetryStrategy, clock: &ByHand, token: &mut PacedRetryToken) {
    while let Some(wait) = strategy.ready(token, clock, None).wait() {
        clock.advance(wait);
    }
}

fn accept(strategy: &PacedRetryStrategy, clock: &ByHand, requests: u32) {
    for _ in 0..requests {
        let mut token = strategy.acquire_initial_token(clock).unwrap();
        send(strategy, clock, &mut token);
        strategy.record_success(token, &Success::default(), clock).unwrap();
    }
}

fn reject(strategy: &PacedRetryStrategy, clock: &ByHand, mut token: PacedRetryToken) -> PacedRetryToken {
    send(strategy, clock, &mut token);
    strategy.refresh_retry_token(token, &throttled(None), clock).unwrap()
}

/// Returns a strategy that follows a limit of about 100 per second.
fn following(clock: &ByHand) -> PacedRetryStrategy {
    let strategy = PacedRetryStrategy::new().ramp(false).seed(1);
    accept(&strategy, clock, 100);
    let token = strategy.acquire_initial_token(clock).unwrap();
    strategy.release(reject(&strategy, clock, token));
    accept(&strategy, clock, 300);
    let token = strategy.acquire_initial_token(clock).unwrap();
    strategy.release(reject(&strategy, clock, token));
    accept(&strategy, clock, 100);
    strategy
}

// Rules L53, L58.
#[test]
fn an_operation_that_is_throttled_again_while_others_are_accepted_waits_longer_and_longer_and_slows_no_other() {
    let clock = ByHand::at(secs(1000));
    let strategy = following(&clock);
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    token = reject(&strategy, &clock, token);
    assert_eq!(token.delay(), Duration::ZERO, "the first one can be everybody's");
    accept(&strategy, &clock, 300);
    for longest in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000] {
        let before = strategy.send_rate().unwrap();
        token = reject(&strategy, &clock, token);
        let delay = token.delay();
        assert!((millis(longest) / 2..=millis(longest)).contains(&delay), "{delay:?}, at most {longest} ms");
        assert!(strategy.send_rate().unwrap() >= before, "it is not evidence of the limit");
        accept(&strategy, &clock, 300);
    }
    strategy.release(token);
}

// Rules L53, L57.
#[test]
fn throttling_in_a_row_without_an_accepted_request_is_everybodys() {
    let clock = ByHand::at(secs(1000));
    let strategy = following(&clock);
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    let before = strategy.send_rate().unwrap();
    for _ in 0..20 {
        token = reject(&strategy, &clock, token);
        assert_eq!(token.delay(), Duration::ZERO);
    }
    assert!(strategy.send_rate().unwrap() < before, "it is evidence of the limit");
    strategy.release(token);
}

// Rule L57.
#[test]
fn where_many_requests_are_throttled_a_second_time_is_not_an_operations_own() {
    let clock = ByHand::at(secs(1000));
    let strategy = following(&clock);
    // Half of the requests are rejected.
    for _ in 0..400 {
        accept(&strategy, &clock, 1);
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.release(reject(&strategy, &clock, token));
    }
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    for _ in 0..4 {
        accept(&strategy, &clock, 1);
        token = reject(&strategy, &clock, token);
        assert_eq!(token.delay(), Duration::ZERO);
    }
    strategy.release(token);
}

/// Makes operations begin evenly for a time, of which every so many is rejected once. Returns the longest wait for a send.
fn open_load(
    strategy: &PacedRetryStrategy,
    clock: &ByHand,
    (per_second, rejected_every): (u32, u32),
    time: u32,
) -> Duration {
    let mut longest = Duration::ZERO;
    for number in 1..per_second * time {
        let due = clock.time() + secs(1) / per_second;
        let mut token = strategy.acquire_initial_token(clock).unwrap();
        if number % rejected_every == 0 {
            token = reject(strategy, clock, token);
        }
        let asked = clock.time();
        send(strategy, clock, &mut token);
        longest = longest.max(clock.time().saturating_sub(asked));
        strategy.record_success(token, &Success::default(), clock).unwrap();
        clock.set(clock.time().max(due));
    }
    longest
}

// Rule L54.
#[test]
fn a_client_that_sends_less_than_its_rate_takes_rare_rejections_for_noise() {
    let clock = ByHand::at(secs(1000));
    let longest = open_load(&PacedRetryStrategy::new(), &clock, (20, 50), 120);
    assert!(longest < millis(20), "{longest:?}");
}

// Rule L54.
#[test]
fn a_client_that_sends_less_than_its_rate_learns_a_limit_that_rejects_much() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    open_load(&strategy, &clock, (20, 3), 10);
    assert!(strategy.send_rate().unwrap() < 60.0, "{:?}", strategy.send_rate());
}

// Rule L59.
#[test]
fn while_operations_have_limits_of_their_own_a_single_rejection_is_not_evidence() {
    let clock = ByHand::at(secs(1000));
    let strategy = following(&clock);
    let mut bad = strategy.acquire_initial_token(&clock).unwrap();
    for _ in 0..5 {
        bad = reject(&strategy, &clock, bad);
        accept(&strategy, &clock, 300);
    }
    let before = strategy.send_rate().unwrap();
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.release(reject(&strategy, &clock, token));
    assert!(strategy.send_rate().unwrap() >= 0.95 * before, "it may be the first one of another such operation");
    strategy.release(bad);
}
