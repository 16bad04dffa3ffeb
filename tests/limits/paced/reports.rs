//! What the paced strategy does with the rate limit that a server reports.

use super::throttled;
use crate::support::{ByHand, millis, secs};
use retry_core::classify::http::RateLimit;
use retry_core::{RetryStrategy, Success};
use retry_limits::PacedRetryStrategy;

/// Sends requests for some seconds as fast as the strategy permits, but at most one in a millisecond. Each takes 20 ms. The
/// server reports what remains at the second. Returns the number of requests.
fn send_with_reports(
    strategy: &PacedRetryStrategy,
    clock: &ByHand,
    seconds: u64,
    mut report: impl FnMut(u64) -> Option<RateLimit>,
) -> u32 {
    let mut sent = Vec::new();
    let mut waiting = strategy.acquire_initial_token(clock).unwrap();
    let mut requests = 0;
    for milli in 0..seconds * 1000 {
        if strategy.ready(&mut waiting, clock, None).wait().is_none() {
            requests += 1;
            sent.push((milli + 20, std::mem::replace(&mut waiting, strategy.acquire_initial_token(clock).unwrap())));
        }
        let (answered, rest): (Vec<_>, Vec<_>) = sent.into_iter().partition(|(at, _)| *at <= milli);
        sent = rest;
        for (_, token) in answered {
            let success = Success::default().with_rate_limit(report(milli / 1000));
            strategy.record_success(token, &success, clock).unwrap();
        }
        clock.advance(millis(1));
    }
    strategy.release(waiting);
    requests
}

// Rules L12, L39.
#[test]
fn few_requests_are_less_than_a_third_of_the_most_of_the_last_seconds() {
    let cut_by = |first: RateLimit, then: RateLimit| {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        send_with_reports(&strategy, &clock, 1, |_| Some(first));
        let before = strategy.send_rate().unwrap();
        send_with_reports(&strategy, &clock, 1, |_| Some(then));
        strategy.send_rate().unwrap() < before
    };
    let limit = |remaining, reset: u64| RateLimit::new(remaining).with_reset(Some(secs(reset)));
    assert!(cut_by(RateLimit::new(300), RateLimit::new(99)));
    assert!(!cut_by(RateLimit::new(300), RateLimit::new(100)));
    assert!(!cut_by(RateLimit::new(0), RateLimit::new(0)), "nothing to compare with");
    // At the half of a window of 20 seconds, less than a sixth is few, and in the last second nothing is.
    assert!(cut_by(limit(600, 20), limit(99, 11)));
    assert!(!cut_by(limit(600, 20), limit(101, 11)));
    assert!(!cut_by(limit(600, 20), limit(1, 1)));
    assert!(!cut_by(limit(100, 1), limit(1, 1)));

    // What remained twelve seconds ago counts.
    let (clock, strategy) = (ByHand::at(secs(1000)), PacedRetryStrategy::new());
    send_with_reports(&strategy, &clock, 12, |second| Some(RateLimit::new(if second == 0 { 3000 } else { 1100 })));
    let rate = strategy.send_rate().unwrap();
    send_with_reports(&strategy, &clock, 1, |_| Some(RateLimit::new(900)));
    assert!(strategy.send_rate().unwrap() < rate);

    // What remained half a minute ago does not count any more: 100 of 3000 are few, but 100 of 200 are not.
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    let with_history = send_with_reports(&strategy, &clock, 33, |second| {
        Some(RateLimit::new(if second == 0 {
            3000
        } else if second < 30 {
            1100 - second
        } else {
            1000
        }))
    });
    let rate = strategy.send_rate().unwrap();
    send_with_reports(&strategy, &clock, 1, |_| Some(RateLimit::new(400)));
    assert!(strategy.send_rate().unwrap() >= rate, "{with_history}");
}

// Rules L6, L12, L40.
#[test]
fn only_the_warning_about_a_request_that_was_sent_after_the_last_cut_counts() {
    let clock = ByHand::at(secs(1000));
    let strategy = PacedRetryStrategy::new();
    send_with_reports(&strategy, &clock, 2, |_| Some(RateLimit::new(1000)));
    let mut sent = Vec::new();
    for _ in 0..100 {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        sent.push(token);
    }
    let success = Success::default().with_rate_limit(Some(RateLimit::new(0)));
    let mut rates = Vec::new();
    for token in sent {
        strategy.record_success(token, &success, &clock).unwrap();
        rates.push(strategy.send_rate().unwrap());
    }
    rates.dedup();
    assert_eq!(rates.len(), 1, "{rates:?}");
}

// Rule L12.
#[test]
fn reports_keep_a_client_from_being_rejected() {
    // A bucket of 100 with 100 requests per second.
    let run = |reports: bool| {
        let clock = ByHand::at(secs(1000));
        let strategy = PacedRetryStrategy::new();
        let (mut left, mut filled, mut sent, mut served, mut rejected) = (100.0, clock.time(), Vec::new(), 0, 0);
        let mut waiting = strategy.acquire_initial_token(&clock).unwrap();
        for milli in 0..60_000_u64 {
            if strategy.ready(&mut waiting, &clock, None).wait().is_none() {
                let token = std::mem::replace(&mut waiting, strategy.acquire_initial_token(&clock).unwrap());
                left = f64::min(100.0, left + 100.0 * clock.time().saturating_sub(filled).as_secs_f64());
                filled = clock.time();
                let is_served = left >= 1.0;
                left -= f64::from(u8::from(is_served));
                sent.push((milli + 20, token, is_served.then_some(left)));
            }
            let (answered, rest): (Vec<_>, Vec<_>) = sent.into_iter().partition(|(at, ..)| *at <= milli);
            sent = rest;
            for (_, token, left) in answered {
                let Some(left) = left else {
                    rejected += 1;
                    drop(strategy.refresh_retry_token(token, &throttled(None), &clock));
                    continue;
                };
                served += 1;
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 100")]
                let limit = reports.then(|| RateLimit::new(left as u64));
                strategy.record_success(token, &Success::default().with_rate_limit(limit), &clock).unwrap();
            }
            clock.advance(millis(1));
        }
        (served, rejected)
    };
    let (served, rejected) = run(true);
    assert_eq!(rejected, 0);
    assert!(served > 5950, "{served} of 6,100");
    assert!(run(false).1 > 0);
}
