//! Settings that change while a strategy runs.

use super::CLOCK;
use crate::support::{ByHand, Failed, Flaky, millis, poll_once, secs};
use retry_config::{ConfiguredStrategy, ConfiguredToken, RetryConfig, RetryMode};
use retry_core::limit::Ready;
use retry_core::strategy::{Refund, RetryCosts};
use retry_core::test::begin;
use retry_core::{
    Failure, Jitter, RetryError, RetryQuota, RetryStrategy, RetryToken, StandardRetryStrategy, Success, TokenBucket,
    retry, retry_blocking,
};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Barrier};

const MODES: [RetryMode; 4] = [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced, RetryMode::Off];

/// Without the ramp, nothing is limited before the first throttling in any mode.
pub(super) fn mode(mode: RetryMode) -> RetryConfig {
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
        let strategy = mode(RetryMode::Standard).build_on(StandardRetryStrategy::new().jitter(Jitter::None)).unwrap();
        strategy.apply(&mode(if from == RetryMode::Off { RetryMode::Standard } else { from }), CLOCK).unwrap();
        let [fails, mut succeeds, released] = [(); 3].map(|()| second(&strategy));
        strategy.apply(&mode(from), CLOCK).unwrap();
        strategy.apply(&mode(to), CLOCK).unwrap();
        assert_eq!(strategy.mode(), to);
        assert_eq!(strategy.quota().available(), 485, "one quota continues");

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
    let strategy = RetryConfig::new().build_on(StandardRetryStrategy::new().jitter(Jitter::None)).unwrap();
    let flaky = Flaky::new(u32::MAX, Failed::SAFE);
    let mut call = pin!(retry(&strategy, || async { flaky.call() }).run());
    poll_once(call.as_mut());
    let costs = RetryCosts::new(20);
    strategy
        .apply(&RetryConfig::new().try_max_attempts(3).unwrap().backoff(millis(3), secs(1)).retry_costs(costs), CLOCK)
        .unwrap();
    let began = tokio::time::Instant::now();
    assert_eq!(call.await, Err(Failed::SAFE));
    assert_eq!(flaky.calls(), 3);
    assert_eq!(began.elapsed(), secs(1) + millis(6), "the delay that had begun did not change");
    assert_eq!(strategy.quota().available(), 475);
}

// Rule C19.
#[test]
fn a_success_gives_back_what_the_new_settings_say() {
    let strategy = ConfiguredStrategy::default();
    let (first, after) = (strategy.acquire_initial_token(CLOCK).unwrap(), second(&strategy));
    strategy.apply(&RetryConfig::new().refunds(2, Refund::LastCost).quota_capacity(500), CLOCK).unwrap();
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
        let strategy = capacity(before).build_on(StandardRetryStrategy::new()).unwrap();
        assert!(strategy.quota().try_acquire(spent, CLOCK));
        strategy.apply(&capacity(after), CLOCK).unwrap();
        let quota = strategy.quota();
        assert_eq!((quota.capacity(), quota.available()), (after, available), "{before} {spent} {after}");
        quota.refund(u32::MAX);
        assert_eq!(quota.available(), after, "a refund fills it up to the new capacity");
    }
}

// Rule C20.
#[test]
fn a_refund_is_cut_to_the_new_capacity_and_not_to_the_old_one() {
    let strategy = capacity(10).build_on(StandardRetryStrategy::new()).unwrap();
    let tokens = [second(&strategy), second(&strategy)];
    strategy.apply(&capacity(1000), CLOCK).unwrap();
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
    let strategy = refill(10, secs(10)).build_on(StandardRetryStrategy::new()).unwrap();
    assert!(strategy.quota().try_acquire(100, &clock));
    clock.advance(secs(10));
    strategy.apply(&refill(10, secs(10)).try_max_attempts(2).unwrap(), &clock).unwrap();
    assert!(strategy.quota().try_acquire(10, &clock), "the period that ended before the change counts");
    strategy.apply(&refill(20, secs(5)), &clock).unwrap();
    assert_eq!(strategy.quota().refill_setting(), Some((20, secs(5))));
    assert!(!strategy.quota().try_acquire(1, &clock));
    clock.advance(secs(5));
    assert!(strategy.quota().try_acquire(20, &clock));
    strategy.apply(&capacity(100), &clock).unwrap();
    clock.advance(secs(1000));
    assert!(!strategy.quota().try_acquire(1, &clock), "there is no refill any more");
    strategy.apply(&refill(1, secs(1)), &clock).unwrap();
    assert!(!strategy.quota().try_acquire(1, &clock));
    clock.advance(secs(1));
    assert!(strategy.quota().try_acquire(1, &clock));
}

// Rule C20.
#[test]
fn a_refill_that_begins_counts_from_the_change_on() {
    let clock = ByHand::at(secs(100));
    let refill = |amount, every| capacity(500).try_quota_refill(amount, every).unwrap();
    let strategy = capacity(500).build_on(StandardRetryStrategy::new()).unwrap();
    assert!(strategy.quota().try_acquire(500, &clock));
    clock.advance(secs(50));
    strategy.apply(&refill(10, secs(1)), &clock).unwrap();
    clock.advance(secs(20));
    assert!(strategy.quota().try_acquire(200, &clock), "the periods since the change");
    assert!(!strategy.quota().try_acquire(1, &clock), "and none before it");
    // Nobody asks for an hour.
    strategy.apply(&capacity(500), &clock).unwrap();
    strategy.apply(&refill(10, secs(1)), &clock).unwrap();
    clock.advance(secs(3600));
    assert!(strategy.quota().try_acquire(500, &clock));
}

// Rule C20.
#[test]
fn what_was_due_before_a_change_is_settled_by_the_settings_before() {
    let clock = ByHand::at(secs(100));
    let refill = |amount, every| capacity(500).try_quota_refill(amount, every).unwrap();
    let strategy = refill(10, secs(1)).build_on(StandardRetryStrategy::new()).unwrap();
    assert!(strategy.quota().try_acquire(500, &clock));
    clock.advance(secs(20));
    strategy.apply(&refill(1, secs(10)), &clock).unwrap();
    assert_eq!(strategy.quota().available(), 200);
    clock.advance(secs(100));
    strategy.apply(&capacity(250), &clock).unwrap();
    assert_eq!(strategy.quota().available(), 105, "200 and 10 of 500");
    clock.advance(secs(100));
    strategy.apply(&refill(1, secs(10)), &clock).unwrap();
    assert_eq!(strategy.quota().available(), 210, "there was no refill meanwhile");
}

// Rule C20.
#[test]
fn a_period_counts_once_by_the_settings_at_its_end_however_often_they_change() {
    let clock = ByHand::at(secs(100));
    let refill = |amount, every| capacity(500).try_quota_refill(amount, every).unwrap();
    let strategy = refill(10, secs(1)).build_on(StandardRetryStrategy::new()).unwrap();
    assert!(strategy.quota().try_acquire(500, &clock));
    // In each second one period of each setting would end, and only the one in effect at its end counts.
    for step in 0..20 {
        clock.advance(millis(500));
        let (amount, every) = if step % 2 == 0 { (7, secs(1)) } else { (10, secs(1)) };
        strategy.apply(&refill(amount, every), &clock).unwrap();
    }
    assert_eq!(strategy.quota().available(), 70, "10 periods that ended with the amount of 7");
    // A clock that is set back gives nothing twice.
    clock.set(secs(50));
    for _ in 0..10 {
        strategy.apply(&refill(3, secs(1)), &clock).unwrap();
    }
    assert_eq!(strategy.quota().available(), 70);
}

// Rule C20.
#[test]
fn a_strategy_that_is_built_on_a_bucket_in_use_keeps_the_proportion_and_refills_from_the_first_reading_on() {
    let clock = ByHand::at(secs(100));
    let bucket = Arc::new(TokenBucket::new(10));
    assert!(bucket.try_acquire(5, &clock));
    let on_bucket = || StandardRetryStrategy::new().with_quota(Arc::clone(&bucket));
    let strategy = capacity(20).try_quota_refill(1, secs(1)).unwrap().build_on(on_bucket()).unwrap();
    assert_eq!(strategy.quota().available(), 10);
    assert!(strategy.quota().try_acquire(10, &clock));
    assert!(!strategy.quota().try_acquire(1, &clock), "no period has ended since the first reading of the clock");
    clock.advance(secs(3));
    assert!(strategy.quota().try_acquire(3, &clock));
    clock.advance(secs(4));
    // Nobody asks between two changes without a time.
    let refilled = |amount| capacity(20).try_quota_refill(amount, secs(1)).unwrap().build_on(on_bucket()).unwrap();
    assert_eq!(refilled(2).quota().available(), 0);
    assert!(refilled(3).quota().try_acquire(12, &clock), "the periods since the latest reading");
}

// Rule C20.
#[test]
fn a_drained_quota_is_not_filled_by_a_capacity_of_zero() {
    let strategy = capacity(500).build_on(StandardRetryStrategy::new()).unwrap();
    assert!(strategy.quota().try_acquire(400, CLOCK));
    for between in [&[0][..], &[0, 0], &[0, 1000, 0]] {
        for after in between {
            strategy.apply(&capacity(*after), CLOCK).unwrap();
        }
        strategy.quota().refund(7);
        strategy.apply(&capacity(500), CLOCK).unwrap();
        assert_eq!(strategy.quota().available(), 100, "{between:?}");
    }
}

// Rule C20.
#[test]
fn under_a_test_guard_a_refill_begins_after_the_waits_that_were_skipped() {
    let _test = begin();
    let strategy = capacity(5).build_on(StandardRetryStrategy::new().jitter(Jitter::None)).unwrap();
    let fail = || retry_blocking(&strategy, || Err::<(), _>(Failed::SAFE)).report();
    assert_eq!(fail().attempts, 2);
    // One second was skipped.
    strategy.apply(&capacity(5).try_quota_refill(5, secs(3600)).unwrap(), CLOCK).unwrap();
    assert_eq!(fail().attempts, 1);
}

// Rule C21.
#[test]
fn the_mode_off_is_the_switch_and_other_modes_leave_the_switch_alone() {
    let strategy = mode(RetryMode::Adaptive).build_on(StandardRetryStrategy::new()).unwrap();
    let failure = Failure::of(&Failed::SAFE);
    strategy.apply(&mode(RetryMode::Off), CLOCK).unwrap();
    assert!(!strategy.is_enabled());
    let token = strategy.acquire_initial_token(CLOCK).unwrap();
    assert_eq!(strategy.refresh_retry_token(token, &failure, CLOCK).unwrap_err(), RetryError::Disabled);
    // An operator turns them on in spite of the settings, and the same settings again change nothing.
    strategy.set_enabled(true);
    assert_eq!(strategy.mode(), RetryMode::Adaptive, "the mode from before is kept under the switch");
    strategy.apply(&mode(RetryMode::Off).quota_capacity(7), CLOCK).unwrap();
    assert!(strategy.is_enabled());
    strategy.apply(&mode(RetryMode::Standard), CLOCK).unwrap();
    strategy.set_enabled(false);
    strategy.apply(&mode(RetryMode::Adaptive), CLOCK).unwrap();
    assert_eq!(strategy.mode(), RetryMode::Off, "a reload does not undo what an operator did");
    strategy.set_enabled(true);
    assert_eq!(strategy.mode(), RetryMode::Adaptive);

    let off = mode(RetryMode::Off).build_on(StandardRetryStrategy::new()).unwrap();
    assert_eq!((off.mode(), off.is_enabled()), (RetryMode::Off, false));
    off.apply(&RetryConfig::new(), CLOCK).unwrap();
    assert_eq!((off.mode(), off.is_enabled()), (RetryMode::Standard, true));
}

// Rules C19, G1.
#[test]
fn a_test_changes_settings_for_itself_alone() {
    let strategy = RetryConfig::new().try_max_attempts(4).unwrap().build_on(StandardRetryStrategy::new()).unwrap();
    let attempts = || {
        let flaky = Flaky::new(u32::MAX, Failed::SAFE);
        let _ = retry_blocking(&strategy, || flaky.call()).run();
        flaky.calls()
    };
    let off = mode(RetryMode::Off).build_on(StandardRetryStrategy::new()).unwrap();
    {
        let _test = begin().quota(50);
        assert_eq!((attempts(), strategy.quota().available()), (4, 35));
        strategy.apply(&capacity(1000).try_max_attempts(2).unwrap(), CLOCK).unwrap();
        assert_eq!((attempts(), strategy.quota().available()), (2, 30), "the quota of the guard is kept");
        assert!(!off.is_enabled(), "the switch begins as it was built");
        off.apply(&mode(RetryMode::Adaptive), CLOCK).unwrap();
        assert_eq!(off.mode(), RetryMode::Adaptive);
    }
    assert_eq!((strategy.settings().max_attempts, strategy.quota().available()), (4, 500));
    assert_eq!(off.mode(), RetryMode::Off);
    strategy.apply(&RetryConfig::new().try_max_attempts(3).unwrap().quota_capacity(10), CLOCK).unwrap();
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
    let strategy = capacity(1000).refunds(0, Refund::LastCost).build_on(StandardRetryStrategy::new()).unwrap();
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
            strategy.apply(&settings(i), CLOCK).unwrap();
        }
    });
    assert_eq!(granted.into_inner() + refused.into_inner(), THREADS * CALLS);
    assert_eq!(strategy.quota().available(), 1000, "everything that was paid came back");
}

// Rule C20.
#[test]
fn a_change_of_the_capacity_under_load_stays_within_it() {
    let strategy = capacity(600).refunds(0, Refund::LastCost).build_on(StandardRetryStrategy::new()).unwrap();
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
            strategy.apply(&capacity(if i % 2 == 0 { 60 } else { 600 }).refunds(0, Refund::LastCost), CLOCK).unwrap();
            assert!(strategy.quota().available() <= 600);
        }
    });
    assert_eq!(strategy.quota().capacity(), 600);
    strategy.quota().refund(600);
    assert_eq!(strategy.quota().available(), 600);
    assert!(strategy.quota().try_acquire(600, CLOCK));
}

// Rules C20, G2.
#[tokio::test(start_paused = true)]
async fn a_refill_that_begins_under_a_test_guard_does_not_pay_for_the_waits_before_it() {
    let _test = begin();
    let strategy = capacity(100).build_on(StandardRetryStrategy::new()).unwrap();
    let call = async |hint: u64| {
        let service = Flaky::new(1, Failed::SAFE.after(secs(hint)));
        retry(&strategy, async || service.call()).run().await.unwrap();
    };
    assert!(strategy.quota().try_acquire(50, CLOCK));
    call(100).await;
    assert_eq!(strategy.quota().available(), 50 - 5 + 1);
    strategy.apply(&capacity(100).try_quota_refill(3, secs(50)).unwrap(), CLOCK).unwrap();
    call(120).await;
    assert_eq!(strategy.quota().available(), 46 - 5 + 1, "the retry was paid for before its wait");
    call(1).await;
    assert!(strategy.quota().available() > 42, "the time of its wait has refilled the quota");
}

// Rules C11, G1.
#[test]
fn the_bucket_of_a_test_has_the_capacity_that_was_configured() {
    let strategy = capacity(9).build_on(StandardRetryStrategy::new()).unwrap();
    let _test = begin();
    assert_eq!((strategy.quota().capacity(), strategy.quota().available()), (9, 9));
    assert_eq!(strategy.quota_level(), Some(9));
}
