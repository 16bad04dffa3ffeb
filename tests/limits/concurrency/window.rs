//! How many requests may be in flight, by what the server answers.

use super::{at_start, begin, fail, fill, in_flight, limit, limited_to, succeed};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::limit::Ready;
use retry_core::{ErrorFault, Failure, RetryError, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy};
use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy, Rejections};
use std::time::Duration;

// Rule I8.
#[test]
fn the_window_begins_at_ten_and_doubles_while_it_is_used_up_until_the_first_rejection() {
    let (strategy, clock) = (limited_to(u32::MAX), at_start());
    let mut sent = fill(&strategy, &clock);
    assert_eq!((sent.len(), limit(&strategy), in_flight(&strategy)), (10, 10, 10));
    for expected in [20, 40, 80] {
        // Each success lets two others follow.
        for token in std::mem::take(&mut sent) {
            succeed(&strategy, token, &clock);
            sent.extend(fill(&strategy, &clock));
        }
        assert_eq!((limit(&strategy), sent.len()), (expected, expected as usize));
    }
    // The last one of 80 is rejected, beside 79 others: 75 of them. From then on, a window of successes adds one.
    fail(&strategy, sent.pop().unwrap(), Failed::THROTTLED, &clock);
    assert_eq!(limit(&strategy), 75);
    for token in sent.drain(..4) {
        succeed(&strategy, token, &clock);
    }
    assert_eq!((limit(&strategy), in_flight(&strategy)), (75, 75));
    let mut successes = 0;
    while limit(&strategy) == 75 {
        succeed(&strategy, sent.pop().unwrap(), &clock);
        sent.extend(fill(&strategy, &clock));
        successes += 1;
    }
    assert!((60..=76).contains(&successes), "{successes}");
}

// Rule I8.
#[test]
fn a_window_that_is_not_used_up_does_not_grow() {
    let (strategy, clock) = (limited_to(u32::MAX), at_start());
    for _ in 0..1000 {
        let mut tokens: Vec<_> = (0..9).map(|_| begin(&strategy, &clock)).collect();
        for token in &mut tokens {
            assert_eq!(strategy.ready(token, &clock, None), Ready::Now);
        }
        for token in tokens {
            succeed(&strategy, token, &clock);
        }
    }
    assert_eq!(limit(&strategy), 10);
}

// Rule I8.
#[test]
fn the_window_is_at_most_what_was_told() {
    for (told, most) in [(0, 1), (1, 1), (7, 7), (12, 12)] {
        let (strategy, clock) = (limited_to(told), at_start());
        for _ in 0..100 {
            let sent = fill(&strategy, &clock);
            assert!(sent.len() <= most, "{told}: {}", sent.len());
            for token in sent {
                succeed(&strategy, token, &clock);
            }
        }
        assert_eq!(fill(&strategy, &clock).len(), most);
    }
}

// Rule I9.
#[test]
fn a_rejection_sets_the_window_to_what_the_server_had_taken_and_others_of_its_time_do_not_count() {
    let (strategy, clock) = (limited_to(u32::MAX), at_start());
    let mut sent = fill(&strategy, &clock);
    for token in std::mem::take(&mut sent) {
        succeed(&strategy, token, &clock);
        sent.extend(fill(&strategy, &clock));
    }
    assert_eq!(sent.len(), 20);
    // Now each one is sent beside those before it.
    for token in sent {
        strategy.release(token);
    }
    let mut sent = fill(&strategy, &clock);
    assert_eq!(sent.len(), 20);
    // A server takes 14 of 20, and rejects the others, the 15th first. It was sent beside 14 others.
    for rejected in sent.drain(14..) {
        fail(&strategy, rejected, Failed::THROTTLED, &clock);
        assert_eq!(limit(&strategy), 13);
    }
    assert_eq!(in_flight(&strategy), 14);
    assert!(fill(&strategy, &clock).is_empty());
}

// Rule I9.
#[test]
fn a_server_that_rejects_everything_gets_one_request_at_a_time_soon_and_then_few() {
    let (strategy, clock) = (limited_to(u32::MAX), at_start());
    let mut requests = 0;
    let started = clock.time();
    let mut ten_seconds = 0;
    while clock.time() < started + secs(100) {
        for token in fill(&strategy, &clock) {
            requests += 1;
            clock.advance(millis(1));
            fail(&strategy, token, Failed::THROTTLED, &clock);
        }
        clock.advance(millis(1));
        if clock.time() < started + secs(10) {
            ten_seconds = requests;
        }
    }
    assert!(ten_seconds <= 10 + 8, "{ten_seconds}");
    // The pauses are 2.5 to 5 s long in the end.
    assert!((20..=36 + 10).contains(&(requests - ten_seconds)), "{requests}");
    assert_eq!(limit(&strategy), 1);
    // The server takes requests again.
    clock.advance(secs(5));
    let mut sent = fill(&strategy, &clock);
    for _ in 0..5 {
        for token in std::mem::take(&mut sent) {
            succeed(&strategy, token, &clock);
            sent.extend(fill(&strategy, &clock));
        }
    }
    assert_eq!(sent.len(), 32, "a rejection of a request that was alone says nothing about a limit");
}

// Rule I9.
#[test]
fn rejections_with_nothing_accepted_in_between_halve_the_window() {
    let (strategy, clock) = (limited_to(u32::MAX), at_start());
    let mut rounds = Vec::new();
    while rounds.last() != Some(&1) {
        let sent = fill(&strategy, &clock);
        rounds.push(sent.len());
        // The last one was sent beside all others.
        for token in sent.into_iter().rev() {
            fail(&strategy, token, Failed::THROTTLED, &clock);
        }
    }
    // 0.95 of the 9 others, then half of the 7 others, then half of the 2 others.
    assert_eq!(rounds, [10, 8, 3, 1]);
}

// Rule I9.
#[test]
fn a_failure_that_is_not_a_rejection_ends_the_row_of_rejections() {
    let (strategy, clock) = (limited_to(u32::MAX), at_start());
    let mut sent = fill(&strategy, &clock);
    fail(&strategy, sent.pop().unwrap(), Failed::THROTTLED, &clock);
    assert_eq!(limit(&strategy), 8, "0.95 of the 9 others");
    fail(&strategy, sent.pop().unwrap(), Failed::SAFE, &clock);
    sent.drain(..).for_each(|token| strategy.release(token));
    let mut sent = fill(&strategy, &clock);
    fail(&strategy, sent.pop().unwrap(), Failed::THROTTLED, &clock);
    assert_eq!(limit(&strategy), 6, "0.95 of the 7 others");
}

/// Returns the pause after the last one of so many rejections of a single request.
fn pause_after(rejections: u32, seed: u64) -> Duration {
    let limiter = ConcurrencyLimiter::new().max_in_flight(1).seed(seed);
    let strategy = ConcurrencyRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiter);
    let clock = at_start();
    let mut rejected_at = clock.time();
    for _ in 0..=rejections {
        rejected_at = clock.time();
        let mut token = begin(&strategy, &clock);
        while let Some(wait) = strategy.ready(&mut token, &clock, None).wait() {
            clock.advance(wait);
        }
        fail(&strategy, token, Failed::THROTTLED, &clock);
    }
    clock.time().saturating_sub(rejected_at)
}

// Rule I10.
#[test]
fn a_pause_is_a_random_part_of_its_longest_time_from_a_half_on() {
    for (rejections, longest) in [(1, 50), (2, 100), (7, 3200), (8, 5000), (40, 5000)] {
        let pauses: Vec<_> = (0..200).map(|seed| pause_after(rejections, seed)).collect();
        let (shortest, longest_seen) = (*pauses.iter().min().unwrap(), *pauses.iter().max().unwrap());
        let longest = millis(longest);
        assert!((longest / 2..longest.mul_f64(0.51)).contains(&shortest), "{rejections}: {shortest:?}");
        assert!((longest.mul_f64(0.99)..=longest).contains(&longest_seen), "{rejections}: {longest_seen:?}");
    }
}

// Rules I10, L8.
#[test]
fn waits_and_pauses_are_the_same_in_each_run_with_a_seed() {
    let pauses = |seed| [1, 2, 3].map(|rejections| pause_after(rejections, seed));
    assert_eq!(pauses(7), pauses(7));
    assert_ne!(pauses(7), pauses(8));
    let delays = |seed| {
        let limiter = ConcurrencyLimiter::new().seed(seed);
        let strategy = ConcurrencyRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiter);
        let clock = at_start();
        let failure = Failure::of(&Failed::THROTTLED.after(secs(10)));
        let delay = |()| strategy.refresh_retry_token(begin(&strategy, &clock), &failure, &clock).unwrap().delay();
        [(); 3].map(delay)
    };
    assert_eq!(delays(7), delays(7));
    assert_ne!(delays(7), delays(8));
}

// Rules I10, K3.
#[test]
fn a_pause_is_over_when_the_clock_is_set_back() {
    let (strategy, clock) = (limited_to(1), at_start());
    let mut sent = fill(&strategy, &clock);
    fail(&strategy, sent.remove(0), Failed::THROTTLED.after(secs(60)), &clock);
    clock.set(clock.time().saturating_sub(secs(900)));
    let mut waiting = begin(&strategy, &clock);
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    clock.advance(millis(250));
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
}

// Rule I10.
#[test]
fn a_pause_lasts_for_as_long_as_the_server_asks_for_and_doubles_otherwise() {
    fn paused_for(strategy: &ConcurrencyRetryStrategy, clock: &ByHand, failed: Failed) -> Duration {
        let mut sent = fill(strategy, clock);
        assert_eq!(sent.len(), 1);
        fail(strategy, sent.remove(0), failed, clock);
        let started = clock.time();
        let mut token = begin(strategy, clock);
        while let Some(wait) = strategy.ready(&mut token, clock, None).wait() {
            assert!(wait <= super::RECHECK);
            clock.advance(wait);
        }
        strategy.release(token);
        clock.time().saturating_sub(started)
    }

    let (strategy, clock) = (limited_to(1), at_start());
    for longest in [50, 100, 200, 400, 800, 1600, 3200, 5000, 5000] {
        let pause = paused_for(&strategy, &clock, Failed::THROTTLED);
        assert!((millis(longest) / 2..=millis(longest + 1)).contains(&pause), "{longest} ms: {pause:?}");
    }
    let pause = paused_for(&strategy, &clock, Failed::THROTTLED.after(secs(30)));
    assert!((secs(30)..=secs(33)).contains(&pause), "{pause:?}");
    // A success ends the row.
    let mut sent = fill(&strategy, &clock);
    succeed(&strategy, sent.remove(0), &clock);
    let pause = paused_for(&strategy, &clock, Failed::THROTTLED);
    assert!(pause <= millis(51), "{pause:?}");
    // A wait that is longer than allowed ends its operation, and the others continue.
    let pause = paused_for(&strategy, &clock, Failed::THROTTLED.after(secs(3600)));
    assert!(pause <= millis(101), "{pause:?}");
}

// Rule I11.
#[test]
fn a_rejected_attempt_is_free_and_not_counted_until_its_time_is_over() {
    let limiter = ConcurrencyLimiter::new().max_throttled_time(secs(60));
    let strategy = ConcurrencyRetryStrategy::with_limiter(StandardRetryStrategy::new().max_attempts(2), limiter);
    let clock = at_start();
    let mut token = begin(&strategy, &clock);
    for attempt in 1..=60 {
        assert_eq!(token.attempt(), attempt);
        while strategy.ready(&mut token, &clock, None) != Ready::Now {
            clock.advance(millis(1));
        }
        clock.set(secs(1000 + u64::from(attempt)).max(clock.time()));
        match strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock) {
            Ok(next) => {
                assert_eq!(next.delay(), Duration::ZERO);
                token = next;
            }
            Err(reason) => {
                assert_eq!(reason, RetryError::MaxTime);
                assert!(clock.time() >= secs(1000 + 60), "{:?}", clock.time());
                break;
            }
        }
        assert!(attempt < 60);
    }
    assert_eq!(strategy.standard().quota().available(), 500);
    // Other failures have the terms of the strategy.
    let token = begin(&strategy, &clock);
    let token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap();
    assert_eq!(strategy.standard().quota().available(), 495);
    assert_eq!(
        strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).err(),
        Some(RetryError::MaxAttempts)
    );
}

// Rule I11.
#[test]
fn what_a_rejection_is_is_a_setting() {
    let broken = Failed { fault: ErrorFault::Server, ..Failed::SAFE };
    let failures = [Failed::THROTTLED, broken, Failed::TIMEOUT, Failed::FATAL, Failed::CONFLICT];
    for (rejections, count) in [(Rejections::Throttling, 1), (Rejections::ServerErrors, 2), (Rejections::Timeouts, 3)] {
        for (index, failed) in failures.into_iter().enumerate() {
            let limiter = ConcurrencyLimiter::new().rejections(rejections);
            let strategy = ConcurrencyRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiter);
            let clock = at_start();
            let mut sent = fill(&strategy, &clock);
            fail(&strategy, sent.pop().unwrap(), failed, &clock);
            let expected = if index < count { 8 } else { 10 };
            assert_eq!(limit(&strategy), expected, "{rejections:?}, {failed:?}");
        }
    }
}
