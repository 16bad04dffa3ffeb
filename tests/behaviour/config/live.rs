//! Settings that change while a strategy runs.

use super::CLOCK;
use crate::support::{ByHand, Failed, Flaky, millis, poll_once, secs};
use retry_core::config::{ConfiguredStrategy, ConfiguredToken, RetryMode};
use retry_core::strategy::{Ready, Refund, RetryCosts};
use retry_core::test::begin;
use retry_core::{
    Failure, Jitter, RetryConfig, RetryError, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success,
    retry, retry_blocking,
};
use std::pin::pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const MODES: [RetryMode; 4] = [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced, RetryMode::Off];

/// Without the ramp, nothing is limited before the first throttling in any mode.
fn mode(mode: RetryMode) -> RetryConfig {
    RetryConfig::new().mode(mode).paced_ramp(false)
}

fn capacity(capacity: u32) -> RetryConfig {
    RetryConfig::new().quota_capacity(capacity)
}

fn second(strategy: &ConfiguredStrategy) -> ConfiguredToken {
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK).unwrap()
}

// Rules C19, C20.
#[test]
fn a_token_stays_valid_over_every_change_of_mode() {
    for (from, to) in MODES.into_iter().flat_map(|from| MODES.map(|to| (from, to))) {
        let strategy = mode(RetryMode::Standard).build_on(StandardRetryStrategy::new().jitter(Jitter::None));
        strategy.apply(&mode(if from == RetryMode::Off { RetryMode::Standard } else { from }));
        let [fails, mut succeeds, released] = [(); 3].map(|()| second(&strategy));
        strategy.apply(&mode(from));
        strategy.apply(&mode(to));
        assert_eq!(strategy.mode(), to);
        assert_eq!(strategy.quota().available(), 485, "one quota goes on");

        let third = strategy.refresh_retry_token(fails, &Failure::of(&Failed::SAFE), CLOCK);
        match third {
            Ok(third) => {
                assert_eq!((third.attempt(), third.delay()), (3, secs(2)));
                strategy.release(third);
            }
            Err(reason) => assert_eq!((reason, to), (RetryError::Disabled, RetryMode::Off)),
        }
        assert_eq!(strategy.ready(&mut succeeds, CLOCK, None), Ready::Now);
        assert_eq!(strategy.record_success(succeeds, &Success::default(), CLOCK), Ok(()));
        assert_eq!(strategy.quota().available(), 486);
        strategy.release(released);
        assert_eq!(strategy.quota().available(), 491);
    }
}

// Rule C19.
#[tokio::test(start_paused = true)]
async fn an_operation_is_judged_by_the_settings_of_the_moment_of_its_failure() {
    let strategy = RetryConfig::new().build_on(StandardRetryStrategy::new().jitter(Jitter::None));
    let flaky = Flaky::new(u32::MAX, Failed::SAFE);
    let mut call = pin!(retry(&strategy, || async { flaky.call() }).run());
    poll_once(call.as_mut());
    let costs = RetryCosts::new(20);
    strategy.apply(&RetryConfig::new().try_max_attempts(3).unwrap().backoff(millis(3), secs(1)).retry_costs(costs));
    let began = tokio::time::Instant::now();
    assert_eq!(call.await, Err(Failed::SAFE));
    assert_eq!(flaky.calls(), 3);
    assert_eq!(began.elapsed(), secs(1) + millis(6), "the delay that had begun did not change");
    assert_eq!(strategy.quota().available(), 475);
}

// Rule C19.
#[test]
fn a_success_gives_back_what_the_new_settings_say() {
    let strategy = RetryConfig::new().build();
    let (first, after) = (strategy.acquire_initial_token(CLOCK).unwrap(), second(&strategy));
    strategy.apply(&RetryConfig::new().refunds(2, Refund::LastCost).quota_capacity(500));
    strategy.record_success(first, &Success::default(), CLOCK).unwrap();
    assert_eq!(strategy.quota().available(), 497);
    assert!(strategy.quota().try_acquire(100, CLOCK));
    strategy.record_success(after, &Success::default(), CLOCK).unwrap();
    assert_eq!(strategy.quota().available(), 402, "its own cost of 5 came back");
}

// Rule C20.
#[test]
fn the_balance_keeps_its_proportion_to_the_capacity_rounded_down() {
    for (before, spent, after, available) in [
        (500, 0, 1000, 1000),
        (500, 250, 1000, 500),
        (500, 500, 1000, 0),
        (500, 1, 250, 249),
        (10, 3, 3, 2),
        (3, 1, 10, 6),
        (500, 499, 499, 0),
        (500, 100, 0, 0),
        (u32::MAX, 1, u32::MAX - 1, u32::MAX - 2),
        (1, 0, u32::MAX, u32::MAX),
        (0, 0, 500, 500),
    ] {
        let strategy = capacity(before).build();
        assert!(strategy.quota().try_acquire(spent, CLOCK));
        strategy.apply(&capacity(after));
        let quota = strategy.quota();
        assert_eq!((quota.capacity(), quota.available()), (after, available), "{before} {spent} {after}");
        quota.refund(u32::MAX);
        assert_eq!(quota.available(), after, "a refund fills it up to the new capacity");
    }
}

// Rule C20.
#[test]
fn a_refund_is_cut_to_the_new_capacity_and_not_to_the_old_one() {
    let strategy = capacity(10).build();
    let tokens = [second(&strategy), second(&strategy)];
    strategy.apply(&capacity(1000));
    assert_eq!(strategy.quota().available(), 0);
    for token in tokens {
        strategy.release(token);
    }
    assert!(!strategy.quota().try_acquire(11, CLOCK));
    assert_eq!(strategy.quota().available(), 10);
    strategy.quota().refund(500);
    assert_eq!(strategy.quota().available(), 510);
}

// Rule C20.
#[test]
fn a_refill_goes_on_unless_it_changes() {
    let clock = ByHand::at(secs(100));
    let refill = |amount, every| capacity(100).try_quota_refill(amount, every).unwrap();
    let strategy = refill(10, secs(10)).build();
    assert!(strategy.quota().try_acquire(100, &clock));
    clock.advance(secs(10));
    strategy.apply(&refill(10, secs(10)).try_max_attempts(2).unwrap());
    assert!(strategy.quota().try_acquire(10, &clock), "the period that ended before the change counts");
    strategy.apply(&refill(20, secs(5)));
    assert_eq!(strategy.quota().refill_setting(), Some((20, secs(5))));
    assert!(!strategy.quota().try_acquire(1, &clock));
    clock.advance(secs(5));
    assert!(strategy.quota().try_acquire(20, &clock));
    strategy.apply(&capacity(100));
    clock.advance(secs(1000));
    assert!(!strategy.quota().try_acquire(1, &clock), "there is no refill any more");
    strategy.apply(&refill(1, secs(1)));
    assert!(!strategy.quota().try_acquire(1, &clock));
    clock.advance(secs(1));
    assert!(strategy.quota().try_acquire(1, &clock));
}

// Rule C21.
#[test]
fn the_mode_off_is_the_switch_and_other_modes_leave_the_switch_alone() {
    let strategy = mode(RetryMode::Adaptive).build();
    let failure = Failure::of(&Failed::SAFE);
    strategy.apply(&mode(RetryMode::Off));
    assert!(!strategy.is_enabled());
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    assert_eq!(strategy.refresh_retry_token(token, &failure, CLOCK).unwrap_err(), RetryError::Disabled);
    // An operator turns them on in spite of the settings, and the same settings again change nothing.
    strategy.set_enabled(true);
    assert_eq!(strategy.mode(), RetryMode::Adaptive, "the mode from before is kept under the switch");
    strategy.apply(&mode(RetryMode::Off).quota_capacity(7));
    assert!(strategy.is_enabled());
    strategy.apply(&mode(RetryMode::Standard));
    strategy.set_enabled(false);
    strategy.apply(&mode(RetryMode::Adaptive));
    assert_eq!(strategy.mode(), RetryMode::Off, "a reload does not undo what an operator did");
    strategy.set_enabled(true);
    assert_eq!(strategy.mode(), RetryMode::Adaptive);

    let off = mode(RetryMode::Off).build();
    assert_eq!((off.mode(), off.is_enabled()), (RetryMode::Off, false));
    off.apply(&RetryConfig::new());
    assert_eq!((off.mode(), off.is_enabled()), (RetryMode::Standard, true));
}

/// Limits sends: returns a strategy whose limiter lets nothing through at the time of the clock.
fn limiting(clock: &ByHand) -> ConfiguredStrategy {
    let strategy = mode(RetryMode::Adaptive).build();
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

    strategy.apply(&mode(RetryMode::Standard));
    assert_eq!(strategy.ready(&mut first(), &clock, None), Ready::Now);
    assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "the waiting operation is sent");

    strategy.apply(&mode(RetryMode::Adaptive));
    assert_eq!(strategy.send_rate(), Some(0.5), "the limiter goes on where it was");
    let mut next = first();
    assert_ne!(strategy.ready(&mut next, &clock, None), Ready::Now);
    clock.advance(secs(2));
    assert_eq!(strategy.ready(&mut next, &clock, None), Ready::Now, "the operation before it has left the queue");
    strategy.release(waiting);

    strategy.apply(&mode(RetryMode::Off));
    assert_ne!(strategy.ready(&mut first(), &clock, None), Ready::Now, "off keeps the limiter");
}

// Rule C19.
#[test]
fn a_failure_that_was_sent_in_the_standard_mode_teaches_the_limiter() {
    let clock = ByHand::at(secs(1000));
    let strategy = RetryConfig::new().build();
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.apply(&mode(RetryMode::Adaptive));
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert_eq!(strategy.send_rate(), Some(0.5));
    assert_ne!(strategy.ready(&mut token, &clock, None), Ready::Now, "its retry is limited");
}

// Rules C19, G1.
#[test]
fn a_test_changes_settings_for_itself_alone() {
    let strategy = RetryConfig::new().try_max_attempts(4).unwrap().build();
    let attempts = || {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        let _ = retry_blocking(&strategy, || flaky.call()).run();
        flaky.calls()
    };
    let off = mode(RetryMode::Off).build();
    {
        let _test = begin().quota(50);
        assert_eq!((attempts(), strategy.quota().available()), (4, 35));
        strategy.apply(&capacity(1000).try_max_attempts(2).unwrap());
        assert_eq!((attempts(), strategy.quota().available()), (2, 30), "the quota of the guard is kept");
        assert!(!off.is_enabled(), "the switch begins as it was built");
        off.apply(&mode(RetryMode::Adaptive));
        assert_eq!(off.mode(), RetryMode::Adaptive);
    }
    assert_eq!((strategy.settings().max_attempts, strategy.quota().available()), (4, 500));
    assert_eq!(off.mode(), RetryMode::Off);
    strategy.apply(&RetryConfig::new().try_max_attempts(3).unwrap().quota_capacity(10));
    {
        let _test = begin();
        assert_eq!((attempts(), strategy.quota().capacity()), (4, 500), "a test begins with the settings at the start");
    }
    assert_eq!((strategy.settings().max_attempts, strategy.quota().available()), (3, 10));
}

// Rules C19, C20.
#[test]
fn a_change_under_load_loses_nothing() {
    const THREADS: u32 = 4;
    const CALLS: u32 = 2_000;
    let strategy = capacity(1000).refunds(0, Refund::LastCost).build();
    let settings = |i: u32| {
        capacity(1000)
            .refunds(0, Refund::LastCost)
            .mode([RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced][i as usize % 3])
            .try_max_attempts(2 + i % 5)
            .unwrap()
    };
    let (granted, refused) = (AtomicU32::new(0), AtomicU32::new(0));
    let start = Barrier::new(5);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                for call in 0..CALLS {
                    let token = strategy.acquire_initial_token(CLOCK).unwrap();
                    match strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK) {
                        Ok(token) => {
                            granted.fetch_add(1, Ordering::Relaxed);
                            if call % 2 == 0 {
                                strategy.release(token);
                            } else {
                                strategy.record_success(token, &Success::default(), CLOCK).unwrap();
                            }
                        }
                        Err(reason) => {
                            assert_eq!(reason, RetryError::QuotaExhausted, "no token is foreign");
                            refused.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    assert!(strategy.quota().available() <= 1000);
                }
            });
        }
        start.wait();
        for i in 0..500 {
            strategy.apply(&settings(i));
        }
    });
    assert_eq!(granted.into_inner() + refused.into_inner(), THREADS * CALLS);
    assert_eq!(strategy.quota().available(), 1000, "everything that was paid came back");
}

// Rule C20.
#[test]
fn a_change_of_the_capacity_under_load_stays_within_it() {
    let strategy = capacity(600).refunds(0, Refund::LastCost).build();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let token = strategy.acquire_initial_token(CLOCK).unwrap();
                    if let Ok(token) = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), CLOCK) {
                        strategy.release(token);
                    }
                }
            });
        }
        for i in 0..1_000 {
            strategy.apply(&capacity(if i % 2 == 0 { 60 } else { 600 }).refunds(0, Refund::LastCost));
            assert!(strategy.quota().available() <= 600);
        }
    });
    assert_eq!(strategy.quota().capacity(), 600);
    strategy.quota().refund(600);
    assert_eq!(strategy.quota().available(), 600);
    assert!(strategy.quota().try_acquire(600, CLOCK));
}

/// Returns a strategy in the mode `paced` whose limiter lets nothing through at the time of the clock.
fn pacing(clock: &ByHand) -> ConfiguredStrategy {
    let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new().jitter(Jitter::None));
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
        let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new().jitter(Jitter::None));
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        for attempt in 2..=10 {
            token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
            assert_eq!((token.attempt(), token.delay()), (attempt, secs(0)));
        }
        assert_eq!(strategy.quota().available(), 500, "they cost nothing");
        strategy.apply(&mode(other));
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
    let strategy = mode(RetryMode::Paced).build();
    let throttled = Failure::of(&Failed::THROTTLED);
    let twice = || {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        let token = strategy.refresh_retry_token(token, &throttled, &clock).unwrap();
        strategy.refresh_retry_token(token, &throttled, &clock).unwrap()
    };
    let (one, other) = (twice(), twice());
    strategy.apply(&mode(RetryMode::Paced).paced_max_throttled(4));
    let one = strategy.refresh_retry_token(one, &throttled, &clock).unwrap();
    assert_eq!(strategy.refresh_retry_token(one, &throttled, &clock).unwrap_err(), RetryError::MaxAttempts);
    strategy.apply(&mode(RetryMode::Paced).max_retry_after(Some(secs(1))));
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
        strategy.apply(&mode(other));
        assert_eq!(strategy.send_rate(), None);
        assert_eq!(strategy.ready(&mut first(), &clock, None), Ready::Now);
        assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "the waiting operation is sent");
        strategy.record_success(waiting, &Success::default(), &clock).unwrap();

        strategy.apply(&mode(RetryMode::Paced));
        assert_eq!(strategy.send_rate(), rate, "the limiter goes on where it was");
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
    strategy.apply(&mode(RetryMode::Standard));
    assert_eq!(strategy.ready(&mut next, &clock, None), Ready::Now);
    strategy.apply(&mode(RetryMode::Paced));
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
        strategy.apply(&mode(RetryMode::Paced));
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
        strategy.apply(&mode(from));
        let mut waiting = strategy.acquire_initial_token(&clock).unwrap();
        assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
        strategy.apply(&mode(to));
        assert_ne!(strategy.ready(&mut waiting, &clock, None), Ready::Now, "{from} to {to}");
        clock.advance(secs(20));
        assert_eq!(strategy.ready(&mut waiting, &clock, None), Ready::Now);
    }
}

// Rule C19.
#[test]
fn a_throttling_that_was_sent_in_the_standard_mode_teaches_the_paced_limiter() {
    let clock = ByHand::at(secs(1000));
    let strategy = RetryConfig::new().build();
    let token = strategy.acquire_initial_token(&clock).unwrap();
    strategy.apply(&mode(RetryMode::Paced));
    let mut token = strategy.refresh_retry_token(token, &Failure::of(&Failed::THROTTLED), &clock).unwrap();
    assert!(strategy.send_rate().is_some_and(|rate| rate < 1.0));
    assert_ne!(strategy.ready(&mut token, &clock, None), Ready::Now, "its retry is limited");
}

// Rules C19, L1.
#[test]
fn the_ramp_begins_with_the_first_operation_in_the_mode_paced() {
    let clock = ByHand::at(secs(1000));
    let strategy = RetryConfig::new().build();
    drop(strategy.acquire_initial_token(&clock));
    strategy.apply(&RetryConfig::new().mode(RetryMode::Paced));
    assert_eq!(strategy.send_rate(), None);
    let mut token = strategy.acquire_initial_token(&clock).unwrap();
    assert_eq!(strategy.send_rate(), Some(50.0));
    assert_eq!(strategy.ready(&mut token, &clock, None), Ready::After(millis(20) + Duration::from_nanos(1)));
}

// Rules C19, L7.
#[tokio::test(start_paused = true)]
async fn a_change_of_the_mode_loses_no_operation_of_a_job_against_a_limit() {
    let strategy = mode(RetryMode::Paced).build_on(StandardRetryStrategy::new().seed(1));
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
            strategy.apply(&mode(to));
            tokio::time::sleep(millis(lasts)).await;
        }
        strategy.apply(&mode(RetryMode::Paced));
    };
    tokio::join!(changes, worker(), worker(), worker(), worker(), worker(), worker(), worker(), worker());
    assert_eq!(served.into_inner(), 320);
    assert!(rejected.into_inner() > 0);
}
