//! Waits under a test guard, and of blocking calls.

use super::{Waits, waits_with};
use crate::support::{ByHand, Failed, Flaky, millis, secs};
use retry_core::time::ManualTimer;
use retry_core::{Failure, PatientRetryStrategy, RetryError, RetryStrategy, retry, retry_blocking, retryable, test};
use std::future::ready;
use std::time::Duration;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// The last attempt is the second one, and is never a probe.
static NEVER: Waits = waits_with(2);

#[retryable(strategy = STORE)]
async fn fetch(service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

#[retryable(strategy = STORE, blocking)]
fn fetch_blocking(service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

// Rule G2.
#[tokio::test]
async fn under_a_guard_waits_for_the_service_are_skipped() {
    let guard = test::begin();
    // The quota of a new process pays for two retries.
    assert_eq!(fetch(&Flaky::new(3, Failed::SAFE)).await, Ok(4));
    guard.only().assert_ended(4, None);
    assert_eq!(STORE.waiting_operations(), Some(0));
    let probe = guard.skipped()[2];
    assert!((millis(900)..=secs(1)).contains(&probe), "{probe:?}");
    drop(guard);

    let guard = test::begin();
    assert_eq!(fetch_blocking(&Flaky::new(3, Failed::SAFE)), Ok(4));
    guard.only().assert_ended(4, None);
}

// Rules G2, U3.
#[tokio::test]
async fn under_a_guard_a_wait_in_vain_ends_with_its_reason() {
    let (fails, timer) = (|| ready(Err::<u32, _>(Failed::SAFE)), ManualTimer::new());
    let guard = test::begin();
    let report = retry(&NEVER, fails).timer(timer.clone()).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NoRecovery)));
    assert_eq!(guard.skipped().iter().sum::<Duration>(), secs(15));
    drop(guard);

    let guard = test::begin();
    let report = retry(&NEVER, fails).timer(timer.clone()).max_time(secs(99)).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NoRecovery)));
    assert_eq!(guard.skipped().iter().sum::<Duration>(), secs(99));
    drop(guard);

    let guard = test::begin();
    let report = retry_blocking(&NEVER, || Err::<u32, _>(Failed::SAFE)).timer(timer).report();
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NoRecovery)));
    assert_eq!(guard.skipped().iter().sum::<Duration>(), secs(15));
}

// Rules G4, U11.
#[tokio::test]
async fn under_a_guard_probes_follow_after_the_same_times_in_each_run() {
    static PROBING: Waits = waits_with(9).max_wait_for_service(secs(3_600));
    let skipped = async |guard: test::TestGuard| {
        let timer = ManualTimer::new();
        assert_eq!(retry(&PROBING, || ready(Err::<u32, _>(Failed::SAFE))).timer(timer).report().await.attempts, 8);
        guard.skipped()
    };
    let first = skipped(test::begin()).await;
    assert_eq!(skipped(test::begin()).await, first);
    assert_ne!(skipped(test::begin().seed(1)).await, first);
}

// Rules G1, U17.
#[tokio::test]
async fn nothing_that_waits_goes_into_a_test_or_comes_out_of_it() {
    static OUTSIDE: Waits = waits_with(5);
    let clock = ByHand::at(secs(1_000));
    let fail = |strategy: &Waits| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock).unwrap()
    };
    let outside = fail(&OUTSIDE);
    {
        let _guard = test::begin();
        assert_eq!(OUTSIDE.waiting_operations(), Some(0));
        let _inside = fail(&OUTSIDE);
        assert_eq!(OUTSIDE.waiting_operations(), Some(1));
    }
    assert_eq!(OUTSIDE.waiting_operations(), Some(1));
    OUTSIDE.release(outside);
    assert_eq!(OUTSIDE.waiting_operations(), Some(0));
}
