//! What becomes of the limiters, and of operations that meet them, when the mode changes.

use super::live::mode;
use crate::support::{ByHand, Failed, millis, secs};
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode};
use retry_core::limit::Ready;
use retry_core::{
    Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokioTimer,
    retry,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Limits sends: returns a strategy whose limiter lets nothing through at the time of the clock.
fn limiting(clock: &ByHand) -> ConfiguredStrategy {
    let strategy = mode(RetryMode::Adaptive).build_on(StandardRetryStrategy::new()).unwrap();
    let token = strategy.acquire_initial_token(clock).unwrap();
    let throttled = Failed { throttle: true, ..Failed::FATAL };
    strategy.refresh_retry_token(token, &Failure::of(&throttled), clock).unwrap_err();
    assert_eq!(strategy.send_rate(), Some(0.5));
    strategy
}

// Rule C19.
#[test]
fn one_limiter_lives_through_changes_of_the_mode() {
    let clock = ByHand::at(secs(1000));
    let strategy = limiting(&clock);
    let first = || strategy.acquire_initial_token(&clock).unwrap();
    let mut waiting = first();
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);

    strategy.apply(&mode(RetryMode::Standard), &TokioTimer).unwrap();
    assert_eq!(strategy.ready(&mut first(), &clock, None), Ready::Now);
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "the waiting operation is sent");

    strategy.apply(&mode(RetryMode::Adaptive), &TokioTimer).unwrap();
    assert_eq!(strategy.send_rate(), Some(0.5), "the limiter continues where it was");
    let mut next = first();
    assert_ne!(strategy.ready(&mut next, &clock, None), Ready::Now);
    clock.advance(secs(2));
    assert_eq!(strategy.ready(&mut next, &clock, None), Ready::Now, "the operation before it has left the queue");
    strategy.release(waiting);

    strategy.apply(&mode(RetryMode::Off), &TokioTimer).unwrap();
    assert_ne!(strategy.ready(&mut first(), &clock, None), Ready::Now, "off keeps the limiter");
}

// Rule C19.
#[test]
fn an_attempt_that_began_in_the_standard_mode_is_sent_after_a_change_to_a_mode_with_a_limit() {
    let clock = ByHand::at(secs(1000));
    let strategy = limiting(&clock);
    strategy.apply(&mode(RetryMode::Standard), &TokioTimer).unwrap();
    let mut begun = strategy.acquire_initial_token(&clock).unwrap();
    strategy.apply(&mode(RetryMode::Adaptive), &TokioTimer).unwrap();
    let mut new = strategy.acquire_initial_token(&clock).unwrap();
    assert_eq!(strategy.ready(&mut begun, &clock, None), Ready::Now);
    assert_ne!(strategy.ready(&mut new, &clock, None), Ready::Now);
}

// Rule C19.
#[test]
fn a_failure_that_was_sent_in_the_standard_mode_teaches_the_limiter() {
    let clock = ByHand::at(secs(1000));
    let strategy = ConfiguredStrategy::default();
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.apply(&mode(RetryMode::Adaptive), &TokioTimer).unwrap();
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert_eq!(strategy.send_rate(), Some(0.5));
    assert_ne!(strategy.ready(&mut token, &clock, None), Ready::Now, "its retry is limited");
}

/// Returns a strategy in the mode `paced` whose limiter lets nothing through at the time of the clock.
fn pacing(clock: &ByHand) -> ConfiguredStrategy {
    let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new().jitter(Jitter::None)).unwrap();
    let token = strategy.acquire_initial_token(clock).unwrap();
    let throttled = Failed { throttle: true, ..Failed::FATAL };
    strategy.refresh_retry_token(token, &Failure::of(&throttled), clock).unwrap_err();
    assert!(strategy.send_rate().is_some_and(|rate| rate < 1.0));
    strategy
}

// Rule C19.
#[test]
fn throttled_attempts_of_the_mode_paced_do_not_count_in_other_modes_either() {
    for other in [RetryMode::Standard, RetryMode::Adaptive] {
        let clock = ByHand::at(secs(1000));
        let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new().jitter(Jitter::None)).unwrap();
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        for attempt in 2..=10 {
            token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
            assert_eq!((token.attempt(), token.delay()), (attempt, secs(0)));
        }
        assert_eq!(strategy.quota().available(), 500, "they cost nothing");
        strategy.apply(&mode(other), &TokioTimer).unwrap();
        for delay in [1, 2, 4, 8] {
            token = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap();
            assert_eq!(token.delay(), secs(delay));
        }
        assert_eq!(strategy.quota().available(), 480);
        let refused = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock);
        assert_eq!(refused.unwrap_err(), RetryError::MaxAttempts, "five attempts that were not throttled");
    }
}

// Rules C19, L7, L8.
#[test]
fn throttled_attempts_are_judged_by_the_settings_of_the_moment() {
    let clock = ByHand::at(secs(1000));
    let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new()).unwrap();
    let throttled = Failure::of(&Failed::THROTTLED);
    let twice = || {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let token = strategy.refresh_retry_token(token, &throttled, &clock).unwrap();
        strategy.refresh_retry_token(token, &throttled, &clock).unwrap()
    };
    let (one, other) = (twice(), twice());
    strategy.apply(&mode(RetryMode::Paced).paced_max_throttled_time(secs(4)), &TokioTimer).unwrap();
    clock.advance(secs(3));
    let one = strategy.refresh_retry_token(one, &throttled, &clock).unwrap();
    clock.advance(secs(1));
    assert_eq!(strategy.refresh_retry_token(one, &throttled, &clock).unwrap_err(), RetryError::MaxTime);
    strategy.apply(&mode(RetryMode::Paced).max_retry_after(Some(secs(1))), &TokioTimer).unwrap();
    let long = Failure::of(&Failed::THROTTLED.after(secs(2)));
    assert_eq!(strategy.refresh_retry_token(other, &long, &clock).unwrap_err(), RetryError::RetryAfterTooLong);
}

// Rule C19.
#[test]
fn the_paced_limiter_lives_through_changes_of_the_mode() {
    let clock = ByHand::at(secs(1000));
    let strategy = pacing(&clock);
    let rate = strategy.send_rate();
    let first = || strategy.acquire_initial_token(&clock).unwrap();
    for other in [RetryMode::Standard, RetryMode::Adaptive] {
        let mut waiting = first();
        assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
        strategy.apply(&mode(other), &TokioTimer).unwrap();
        assert_eq!(strategy.send_rate(), None);
        assert_eq!(strategy.ready(&mut first(), &clock, None), Ready::Now);
        assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "the waiting operation is sent");
        strategy.record_success(waiting, &Success::default(), &clock).unwrap();

        strategy.apply(&mode(RetryMode::Paced), &TokioTimer).unwrap();
        assert_eq!(strategy.send_rate(), rate, "the limiter continues where it was");
        let mut next = first();
        assert_ne!(strategy.ready(&mut next, &clock, None), Ready::Now);
        strategy.release(next);
    }
    // Nobody is left in the queue: the next operation gets the first send.
    clock.advance(secs(10));
    let mut next = first();
    assert_eq!(strategy.ready(&mut next, &clock, None), Ready::Now);
    // A send that was granted stays granted in any mode.
    let mut waiting = first();
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    strategy.apply(&mode(RetryMode::Standard), &TokioTimer).unwrap();
    assert_eq!(strategy.ready(&mut next, &clock, None), Ready::Now);
    strategy.apply(&mode(RetryMode::Paced), &TokioTimer).unwrap();
    strategy.release(next);
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "it was given back");
}

// Rule C19.
#[test]
fn an_operation_that_waits_for_one_limiter_waits_for_the_other_one_after_a_change() {
    let clock = ByHand::at(secs(1000));
    for (from, to) in [(RetryMode::Adaptive, RetryMode::Paced), (RetryMode::Paced, RetryMode::Adaptive)] {
        // Both limiters let nothing through.
        let strategy = limiting(&clock);
        strategy.apply(&mode(RetryMode::Paced), &TokioTimer).unwrap();
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
        strategy.apply(&mode(from), &TokioTimer).unwrap();
        let mut waiting = strategy.acquire_initial_token(&clock).unwrap();
        assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
        strategy.apply(&mode(to), &TokioTimer).unwrap();
        assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "{from} to {to}");
        clock.advance(secs(20));
        assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    }
}

// Rule C19.
#[test]
fn a_throttling_that_was_sent_in_the_standard_mode_teaches_the_paced_limiter() {
    let clock = ByHand::at(secs(1000));
    let strategy = ConfiguredStrategy::default();
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.apply(&mode(RetryMode::Paced), &TokioTimer).unwrap();
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert!(strategy.send_rate().is_some_and(|rate| rate < 1.0));
    assert_ne!(strategy.ready(&mut token, &clock, None), Ready::Now, "its retry is limited");
}

// Rules C19, L1.
#[test]
fn the_ramp_begins_with_the_first_operation_in_the_mode_paced() {
    let clock = ByHand::at(secs(1000));
    let strategy = ConfiguredStrategy::default();
    drop(strategy.acquire_initial_token(&clock));
    strategy.apply(&RetryConfig::new().mode(RetryMode::Paced), &TokioTimer).unwrap();
    assert_eq!(strategy.send_rate(), None);
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    assert_eq!(strategy.send_rate(), Some(100.0));
    assert_eq!(strategy.ready(&mut token, &clock, None), Ready::After(millis(10) + Duration::from_nanos(1)));
}

// Rules C19, L7.
#[tokio::test(start_paused = true)]
async fn a_change_of_the_mode_loses_no_operation_of_a_job_against_a_limit() {
    let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new().seed(1)).unwrap();
    let (served, rejected) = (AtomicU32::new(0), AtomicU32::new(0));
    let started = tokio::time::Instant::now();
    // 50 requests per second.
    let service = || {
        let allowed = 50.0 * started.elapsed().as_secs_f64();
        if f64::from(served.load(Ordering::Relaxed)) < allowed {
            served.fetch_add(1, Ordering::Relaxed);
            Ok(())
        } else {
            rejected.fetch_add(1, Ordering::Relaxed);
            Err(Failed::THROTTLED)
        }
    };
    let worker = async || {
        for _ in 0..40 {
            let request = async || {
                tokio::time::sleep(millis(5)).await;
                service()
            };
            assert_eq!(retry(&strategy, request).run().await, Ok(()));
        }
    };
    let changes = async {
        // The standard mode is short: its operations have five attempts.
        for (to, lasts) in [(RetryMode::Standard, 200), (RetryMode::Paced, 3000), (RetryMode::Adaptive, 1000)].repeat(5)
        {
            strategy.apply(&mode(to), &TokioTimer).unwrap();
            tokio::time::sleep(millis(lasts)).await;
        }
        strategy.apply(&mode(RetryMode::Paced), &TokioTimer).unwrap();
    };
    tokio::join!(changes, worker(), worker(), worker(), worker(), worker(), worker(), worker(), worker());
    assert_eq!(served.into_inner(), 320);
    assert!(rejected.into_inner() > 0);
}

// Rules C19, L18.
#[test]
fn a_told_limit_begins_changes_and_ends_while_the_strategy_runs() {
    let clock = ByHand::at(secs(1000));
    let settings = || mode(RetryMode::Paced).paced_ramp(false);
    let told = |rate: f64| settings().try_paced_max_rate(rate).unwrap();
    let strategy = settings().build_on(StandardRetryStrategy::new()).unwrap();
    let first = || strategy.acquire_initial_token(&clock).unwrap();
    let close = |rate: f64| strategy.send_rate().is_some_and(|found| (found * 1.03 - rate).abs() < 1e-6);
    assert_eq!(strategy.ready(&mut first(), &clock, None), Ready::Now);
    assert_eq!(strategy.send_rate(), None);

    strategy.apply(&told(10.0), &clock).unwrap();
    let mut waiting = first();
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    assert!(close(10.0), "{:?}", strategy.send_rate());
    strategy.apply(&told(20.0), &clock).unwrap();
    assert!(close(20.0), "{:?}", strategy.send_rate());
    clock.advance(millis(52));
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "it came in at the new rate");

    let mut waiting = first();
    assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    strategy.apply(&settings(), &clock).unwrap();
    assert_eq!(strategy.send_rate(), None);
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "nothing is limited any more");
    assert_eq!(strategy.ready(&mut first(), &clock, None), Ready::Now);

    // One that is set before the first operation, too.
    let strategy = settings().build_on(StandardRetryStrategy::new()).unwrap();
    strategy.apply(&told(10.0), &clock).unwrap();
    drop(strategy.acquire_initial_token(&clock));
    assert!(strategy.send_rate().is_some());
}

// Rules C19, L18, L33.
#[test]
fn a_told_limit_that_changes_in_a_hold_spaces_its_probes() {
    let clock = ByHand::at(secs(1000));
    let told = |rate: f64| mode(RetryMode::Paced).paced_ramp(false).try_paced_max_rate(rate).unwrap();
    let strategy = told(0.1).build_on(StandardRetryStrategy::new()).unwrap();
    let first = || strategy.acquire_initial_token(&clock).unwrap();
    let closed = Failed { throttle: true, retry_after: Some(secs(600)), ..Failed::FATAL };
    let _ = strategy.refresh_retry_token(first(), &Failure::of(&closed), &clock);
    // The next send, in tenths of a second.
    let probe = || {
        let mut token = first();
        (0..10_000).find(|_| {
            let is_sent = strategy.ready(&mut token, &clock, None) == Ready::Now;
            clock.advance(millis(if is_sent { 0 } else { 100 }));
            is_sent
        })
    };
    // L19: sends are 3 % farther apart than the user asks for.
    assert_eq!(probe(), Some(103 + 1), "one send in 10 s");
    strategy.apply(&told(0.02), &clock).unwrap();
    assert_eq!(probe(), Some(104 + 10), "the time of this one was decided before");
    assert_eq!(probe(), Some(515 + 1), "one send in 50 s");
}

// Rules C19, L20.
#[test]
fn the_first_rate_can_be_changed_until_the_ramp_begins_and_a_ramp_that_began_continues() {
    let clock = ByHand::at(secs(1000));
    let settings = |rate| RetryConfig::new().mode(RetryMode::Paced).try_paced_initial_rate(rate).unwrap();
    let strategy = settings(10.0).build_on(StandardRetryStrategy::new()).unwrap();
    strategy.apply(&settings(50.0), &clock).unwrap();
    drop(strategy.acquire_initial_token(&clock));
    assert_eq!(strategy.send_rate(), Some(50.0));
    strategy.apply(&settings(50.0).paced_ramp(false), &clock).unwrap();
    assert!(strategy.send_rate().is_some());
}
