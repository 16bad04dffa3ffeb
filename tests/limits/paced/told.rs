//! Rates that the user tells: a limit, and the rate at which the ramp begins.

use super::{millis, secs, throttled};
use crate::support::ByHand;
use retry_core::strategy::LimitedRetryStrategy;
use retry_core::{RetryStrategy, StandardRetryStrategy, Success};
use retry_limits::{PacedLimiter, PacedRetryStrategy, PacedRetryToken};
use std::panic::catch_unwind;
use std::time::Duration;

/// Returns the times of the sends in this time, in microseconds, if operations always wait and are late by up to `late`.
fn sends(strategy: &PacedRetryStrategy, clock: &ByHand, time: Duration, late: Duration) -> Vec<u128> {
    let (mut sends, started) = (Vec::new(), clock.time());
    let mut token = strategy.acquire_initial_token(clock).unwrap();
    while clock.time() < started + time {
        if let Some(wait) = strategy.ready(&mut token, clock, None).wait() {
            // A timer that counts in steps of `late` rounds a wait up.
            let due = (clock.time() + wait).as_nanos();
            let step = late.as_nanos().max(1);
            clock.set(Duration::from_nanos(u64::try_from(due.div_ceil(step) * step).unwrap()));
        } else {
            sends.push(clock.time().saturating_sub(started).as_micros());
            accept(strategy, clock, std::mem::replace(&mut token, strategy.acquire_initial_token(clock).unwrap()));
        }
    }
    strategy.release(token);
    sends
}

fn accept(strategy: &PacedRetryStrategy, clock: &ByHand, token: PacedRetryToken) {
    strategy.record_success(token, &Success::default(), clock).unwrap();
}

/// Sends a request that is rejected.
fn reject(strategy: &PacedRetryStrategy, clock: &ByHand) {
    let mut token = strategy.acquire_initial_token(clock).unwrap();
    while let Some(wait) = strategy.ready(&mut token, clock, None).wait() {
        clock.advance(wait);
    }
    let token = strategy.refresh_retry_token(token, &throttled(None), clock).unwrap();
    strategy.release(token);
}

/// Sends so many requests, which are accepted after the last one was sent.
fn accept_together(strategy: &PacedRetryStrategy, clock: &ByHand, requests: usize) {
    let mut sent: Vec<_> = (0..requests).map(|_| strategy.acquire_initial_token(clock).unwrap()).collect();
    for token in &mut sent {
        while let Some(wait) = strategy.ready(token, clock, None).wait() {
            clock.advance(wait);
        }
    }
    for token in sent {
        accept(strategy, clock, token);
    }
}

#[track_caller]
fn assert_rate(strategy: &PacedRetryStrategy, expected: f64) {
    let rate = strategy.send_rate().unwrap();
    assert!((rate / expected - 1.0).abs() < 1e-6, "{rate} is not {expected}");
}

fn shortest(sends: &[u128]) -> u128 {
    sends.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap()
}

// Rule L18.
#[test]
fn sends_keep_the_space_of_a_told_limit_from_the_first_one_on() {
    for ramp in [true, false] {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new().max_rate(100.0).ramp(ramp);
        for _ in 0..3 {
            let sent = sends(&strategy, &clock, secs(2), Duration::ZERO);
            assert!((193..=195).contains(&sent.len()), "{} with ramp = {ramp}", sent.len());
            assert!(shortest(&sent) >= 10_299, "{}", shortest(&sent));
            // A client that did nothing has one send, and no burst.
            clock.advance(secs(60));
        }
    }
}

// Rule L18.
#[test]
fn a_timer_that_rounds_up_loses_none_of_a_told_limit() {
    for (limit, expected) in [(100.0, 970), (3000.0, 29_126)] {
        let clock = ByHand::at(secs(1000));
        let sent =
            sends(&PacedRetryStrategy::new().initial_rate(limit).max_rate(limit), &clock, secs(10), millis(1)).len();
        assert!(sent <= expected + 2 && sent * 100 >= expected * 99, "{sent} of {expected}");
    }
}

// Rule L18.
#[test]
fn waiters_that_are_late_by_up_to_two_milliseconds_lose_nothing_and_others_save_up_no_burst() {
    // At intervals of 10.3 ms, a timer with steps of 3 ms is late by up to 3 ms.
    for (step, sends_expected) in [(1, 970), (2, 970), (3, 908)] {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new().initial_rate(100.0).max_rate(100.0);
        assert_eq!(sends(&strategy, &clock, secs(10), millis(step)).len(), sends_expected, "steps of {step} ms");
    }
}

// Rules L18, L10.
#[test]
fn of_a_told_limit_and_a_rate_from_elsewhere_the_lower_one_counts() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().max_rate(100.0).ramp(false);
    strategy.pace_at(Some(200.0), false, &clock);
    assert_rate(&strategy, 100.0 / 1.03);
    strategy.pace_at(Some(50.0), false, &clock);
    assert_rate(&strategy, 50.0);
    strategy.pace_at(None, false, &clock);
    assert_rate(&strategy, 100.0 / 1.03);
}

// Rule L19.
#[test]
fn a_rejection_at_a_told_limit_spaces_the_sends_wider_and_accepted_requests_bring_them_closer() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().max_rate(100.0);
    drop(sends(&strategy, &clock, secs(1), Duration::ZERO));
    reject(&strategy, &clock);
    assert_rate(&strategy, 100.0 / 1.07);
    let accepted = sends(&strategy, &clock, millis(500), Duration::ZERO).len();
    assert!((45..=47).contains(&accepted), "{accepted}");
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    clock.advance(millis(20));
    assert!(strategy.ready(&mut token, &clock, None).wait().is_none());
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let space = 0.07 - 0.0006 * accepted as f64;
    assert_rate(&strategy, 100.0 / (1.0 + space));
    strategy.release(token);

    // It is the same for answers that come together.
    let strategy = PacedRetryStrategy::new().max_rate(100.0);
    reject(&strategy, &clock);
    accept_together(&strategy, &clock, 10);
    reject(&strategy, &clock);
    assert_rate(&strategy, 100.0 / (1.07 - 10.0 * 0.0006 + 0.04));
}

// Rule L19.
#[test]
fn sends_at_a_told_limit_are_spaced_at_most_40_percent_wider() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().max_rate(100.0);
    drop(sends(&strategy, &clock, secs(1), Duration::ZERO));
    for rejections in 1..=9_u8 {
        reject(&strategy, &clock);
        assert_rate(&strategy, 100.0 / (1.03 + 0.04 * f64::from(rejections)));
    }
    // From then on, rejections show that the limit is lower.
    let mut rates = vec![];
    for _ in 0..20 {
        reject(&strategy, &clock);
        rates.push(strategy.send_rate().unwrap());
    }
    assert!(rates.iter().all(|rate| (rate * 1.39 - 100.0).abs() < 1e-6 || *rate < 65.0), "{rates:?}");
    assert!(rates[19] < 65.0, "{rates:?}");

    // Exactly 40 percent are possible.
    let strategy = PacedRetryStrategy::new().max_rate(100.0);
    for (rejections, accepted) in [(3, 9), (2, 41)] {
        (0..rejections).for_each(|_| reject(&strategy, &clock));
        accept_together(&strategy, &clock, accepted);
    }
    (0..5).for_each(|_| reject(&strategy, &clock));
    assert_rate(&strategy, 100.0 / 1.4);
}

// Rules L18, L19.
#[test]
fn a_limit_below_the_told_one_is_learnt() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().max_rate(100.0);
    // A server with a limit of 40 per second.
    let (mut tokens, mut filled, mut rejected) = (40.0_f64, clock.time(), 0);
    let mut last = Vec::new();
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    while clock.time() < secs(1060) {
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        tokens = (tokens + 40.0 * clock.time().saturating_sub(filled).as_secs_f64()).min(40.0);
        filled = clock.time();
        if tokens >= 1.0 {
            tokens -= 1.0;
            accept(&strategy, &clock, token);
            last.push(clock.time());
        } else {
            rejected += 1;
            strategy.release(strategy.refresh_retry_token(token, &throttled(None), &clock).unwrap());
        }
        token = strategy.acquire_initial_token(&clock).unwrap();
    }
    strategy.release(token);
    let accepted = last.iter().filter(|at| **at > secs(1030)).count();
    assert!(accepted > 1100, "{accepted} of 1,200 in the last half");
    assert!(rejected < 90, "{rejected} rejected, of 2,400");
}

// Rule L20.
#[test]
fn the_ramp_begins_at_the_told_rate() {
    for first in [5.0, 1000.0] {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new().initial_rate(first);
        drop(strategy.acquire_initial_token(&clock));
        assert_rate(&strategy, first);
        // Nothing is accepted, so it does not grow.
        clock.advance(secs(2));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        assert!(strategy.ready(&mut token, &clock, None).wait().is_none());
        assert_rate(&strategy, first);
        // In the first second of accepted requests it does.
        accept(&strategy, &clock, token);
        drop(sends(&strategy, &clock, secs(1), Duration::ZERO));
        assert!(strategy.send_rate().unwrap() > 2.0 * first, "{:?}", strategy.send_rate());
    }
    // The told limit counts, too.
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().initial_rate(1000.0).max_rate(103.0);
    drop(strategy.acquire_initial_token(&clock));
    assert_rate(&strategy, 100.0);
    // Without the ramp, it begins at the told limit, or there is no rate at which it begins.
    let strategy = PacedRetryStrategy::new().initial_rate(5.0).max_rate(206.0).ramp(false);
    drop(strategy.acquire_initial_token(&clock));
    assert_rate(&strategy, 200.0);
    let strategy = PacedRetryStrategy::new().initial_rate(5.0).ramp(false);
    drop(strategy.acquire_initial_token(&clock));
    assert_eq!(strategy.send_rate(), None);
}

// Rules L18, L20.
#[test]
fn a_rate_that_is_no_rate_panics_in_the_builder() {
    for rate in [0.0, -1.0, 0.0009, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(catch_unwind(|| PacedRetryStrategy::new().max_rate(rate)).is_err(), "{rate}");
        assert!(catch_unwind(|| PacedRetryStrategy::new().initial_rate(rate)).is_err(), "{rate}");
    }
    for rate in [0.001, 1e-3, f64::MAX] {
        drop(PacedRetryStrategy::new().max_rate(rate).initial_rate(rate));
    }
}

// Rules L55, L60.
#[test]
fn the_first_operations_use_a_told_burst_and_the_next_ones_the_rate() {
    for (limit, burst, usable) in [(100.0, 100, 97), (50.0, 200, 194), (10.0, 5, 4), (3_500.0, 3_500, 3_395)] {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new().max_rate(limit).burst(burst);
        for _ in 0..3 {
            let sent = sends(&strategy, &clock, secs(2), Duration::ZERO);
            let at_once = sent.iter().filter(|at| **at == 0).count();
            assert_eq!(at_once, usable, "{limit}/s, burst {burst}");
            #[expect(clippy::cast_precision_loss, reason = "a small number")]
            let later = (sent.len() - at_once) as f64;
            assert!((later - 2.0 * limit).abs() <= 1.0, "{later} at {limit}/s");
            // A client that did nothing has the burst again.
            clock.advance(secs(60));
        }
    }
}

// Rule L55.
#[test]
fn a_told_burst_of_one_is_none_and_without_a_limit_it_has_no_effect() {
    let clock = ByHand::at(secs(1000));
    let sent = |strategy: PacedRetryStrategy| sends(&strategy, &clock, secs(1), Duration::ZERO).len();
    for burst in [0, 1] {
        assert_eq!(
            sent(PacedRetryStrategy::new().max_rate(100.0).burst(burst)),
            sent(PacedRetryStrategy::new().max_rate(100.0))
        );
    }
    assert_eq!(sent(PacedRetryStrategy::new().burst(500)), sent(PacedRetryStrategy::new()));
}

// Rule L55.
#[test]
fn a_rejection_shows_that_a_told_burst_is_used_up_and_a_lower_limit_has_none() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new().max_rate(100.0).burst(100);
    accept_together(&strategy, &clock, 20);
    reject(&strategy, &clock);
    let sent = sends(&strategy, &clock, millis(50), Duration::ZERO);
    assert!(sent.len() <= 6, "{} in 50 ms", sent.len());
    // From the eleventh rejection on, the limit is lower than the user said.
    for _ in 0..30 {
        accept_together(&strategy, &clock, 1);
        reject(&strategy, &clock);
    }
    clock.advance(secs(60));
    let sent = sends(&strategy, &clock, millis(100), Duration::ZERO);
    assert!(sent.iter().filter(|at| **at == 0).count() <= 5, "{sent:?}");
}

// Rule L55.
#[test]
fn a_told_burst_of_weights_is_a_sum() {
    let clock = ByHand::at(secs(1000));
    let strategy = LimitedRetryStrategy::with_limiter(
        StandardRetryStrategy::new(),
        PacedLimiter::of_weights().max_rate(1_000.0).burst(5_000),
    );
    let mut sent = 0;
    for _ in 0..200 {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.weigh(&mut token, 100);
        sent += u32::from(strategy.ready(&mut token, &clock, None).wait().is_none());
        strategy.release(token);
    }
    // What is released without an attempt is given back, so each of them is sent.
    assert_eq!(sent, 200);
    let mut tokens = Vec::new();
    loop {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.weigh(&mut token, 100);
        if strategy.ready(&mut token, &clock, None).wait().is_some() {
            break;
        }
        tokens.push(token);
    }
    assert_eq!(tokens.len(), 48, "3 % of 5,000 are kept back");
}
