//! Tests of retried functions: a guard gives each of them state of its own, and skips its waits.

mod reach;
mod settings;
mod suite;

use crate::script::Error;
use crate::support::{Failed, Flaky, millis, poll_once, secs};
use retry_core::test::{TestGuard, begin, is_active};
use retry_core::{
    AdaptiveRetryStrategy, RetryError, RetryErrorType, RetryQuota, RetryStrategy, StandardRetryStrategy, TimeLimit,
    retry, retry_blocking, retryable,
};
use retry_limits::PacedRetryStrategy;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::{Duration, Instant};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn fetch(service: &Flaky) -> Result<u32, Failed> {
    service.call()
}

// Rules G3, G4.
#[tokio::test]
async fn a_quota_that_pays_for_one_retry_ends_a_call_after_two_attempts() {
    let test = begin().quota(9);
    assert_eq!(fetch(&Flaky::new(9, Failed::THROTTLED)).await, Err(Failed::THROTTLED));
    let call = test.only();
    assert_eq!((call.attempts, call.reason), (2, Some(RetryError::QuotaExhausted)));
    assert_eq!(call.name, "calls::test_mode::fetch");
    assert_eq!(call.classes, [Some(RetryErrorType::Throttling); 2]);
    assert_eq!(call.delays, test.skipped());
    assert!(call.has_ended);
    call.assert_ended(2, Some(RetryError::QuotaExhausted));
}

// Rules G2, G3.
#[tokio::test]
async fn delays_are_recorded_and_not_slept() {
    let (test, started) = (begin(), Instant::now());
    assert_eq!(fetch(&Flaky::new(4, Failed::SAFE.after(secs(100)))).await, Ok(5));
    assert_eq!(test.skipped(), [secs(100); 4]);
    assert_eq!(test.only().delays, [secs(100); 4]);
    assert!(started.elapsed() < secs(100));
}

// Rule G4.
#[tokio::test]
async fn the_maximum_of_attempts_can_be_set() {
    let test = begin().max_attempts(2);
    assert_eq!(fetch(&Flaky::new(9, Failed::SAFE)).await, Err(Failed::SAFE));
    test.only().assert_ended(2, Some(RetryError::MaxAttempts));
    let test = begin().max_attempts(0);
    let _ = fetch(&Flaky::new(9, Failed::SAFE)).await;
    test.only().assert_ended(1, Some(RetryError::MaxAttempts));
}

// Rule G4.
#[tokio::test]
async fn the_maximum_of_attempts_ends_retries_that_are_free_and_not_counted() {
    static PACED: PacedRetryStrategy = PacedRetryStrategy::new();
    for max_attempts in [1, 2, 5] {
        let test = begin().max_attempts(max_attempts);
        let service = Flaky::new(9, Failed::THROTTLED);
        assert_eq!(retry(&PACED, async || service.call()).run().await, Err(Failed::THROTTLED));
        assert_eq!(PACED.quota_level(), Some(500), "the retries were free");
        test.only().assert_ended(max_attempts, Some(RetryError::MaxAttempts));
    }
}

// Rule G4.
#[tokio::test]
async fn jitter_has_a_fixed_seed() {
    let delays = async |guard: TestGuard| {
        let _ = fetch(&Flaky::new(9, Failed::SAFE)).await;
        guard.only().delays
    };
    let first = delays(begin()).await;
    assert_eq!(first.len(), 4);
    assert!(first.iter().any(|delay| !delay.is_zero()));
    assert_eq!(delays(begin()).await, first);
    assert_ne!(delays(begin().seed(1)).await, first);
    assert_eq!(delays(begin().seed(0)).await, first);
}

// Rule G1.
#[tokio::test]
async fn nothing_goes_in_or_out() {
    static OTHER: StandardRetryStrategy = StandardRetryStrategy::new();
    let call = async || retry(&OTHER, async || Err::<(), _>(Failed::THROTTLED)).run().await;
    {
        let _test = begin().max_attempts(3);
        let _ = call().await;
        assert_eq!(OTHER.quota().available(), 500 - 5 - 5);
        OTHER.set_enabled(false);
    }
    assert!(OTHER.is_enabled());
    assert_eq!(OTHER.quota().available(), 500);
    assert!(OTHER.quota().try_acquire(100, &retry_core::TokioTimer));
    let _test = begin();
    assert_eq!(OTHER.quota().available(), 500);
}

// Rule G5.
#[tokio::test]
async fn guards_nest_and_the_outer_one_goes_on() {
    let outer = begin();
    let _ = fetch(&Flaky::new(1, Failed::SAFE)).await;
    let before = STORE.quota().available();
    assert_eq!(before, 500 - 5 + 1);
    {
        let inner = begin();
        assert_eq!(STORE.quota().available(), 500);
        let _ = fetch(&Flaky::new(0, Failed::SAFE)).await;
        inner.only().assert_ended(1, None);
    }
    assert_eq!(STORE.quota().available(), before);
    outer.only().assert_ended(2, None);
    assert!(is_active());
    drop(outer);
    assert!(!is_active());
}

#[tokio::test]
async fn guards_may_end_in_any_order() {
    let (outer, inner) = (begin().quota(7), begin().quota(8));
    drop(outer);
    assert_eq!(STORE.quota().available(), 8);
    drop(inner);
    assert_eq!(STORE.quota().available(), 500);
}

// Rule G1.
#[tokio::test(start_paused = true)]
async fn a_call_that_outlives_its_guard_gives_nothing_back_to_the_real_quota() {
    static OTHER: StandardRetryStrategy = StandardRetryStrategy::new();
    assert!(OTHER.quota().try_acquire(100, &retry_core::TokioTimer));
    let test = begin();
    let token = RetryStrategy::acquire_initial_token(&OTHER, &retry_core::TokioTimer).unwrap();
    drop(test);
    let success = retry_core::Success::default();
    let recorded = RetryStrategy::record_success(&OTHER, token, &success, &retry_core::TokioTimer);
    assert!(recorded.is_err(), "the token is foreign");
    assert_eq!(OTHER.quota().available(), 400);
}

// Rule G1.
#[tokio::test]
async fn an_operation_whose_first_attempt_fails_in_a_test_belongs_to_it() {
    static EMPTY: StandardRetryStrategy = StandardRetryStrategy::new().quota_capacity(0);
    let service = Flaky::new(1, Failed::SAFE);
    let mut call = pin!(
        retry(&EMPTY, async || {
            tokio::task::yield_now().await;
            service.call()
        })
        .run()
    );
    poll_once(call.as_mut());
    let _test = begin().quota(500);
    assert_eq!(call.await, Ok(2), "the quota of the test pays for the retry");
}

// Rule G2.
#[tokio::test]
async fn skipped_waits_count_against_max_time_and_other_calls_waits_do_not() {
    let call = |wait: u64| {
        let call = retry(&STORE, move || async move { Err::<u32, _>(Error::Failed(Failed::SAFE.after(secs(wait)))) });
        call.max_time(secs(10)).report()
    };
    let _test = begin();
    let (short, long) = tokio::join!(call(2), call(9));
    assert_eq!((short.attempts, short.reason), (5, Some(RetryError::MaxAttempts)));
    assert_eq!((long.attempts, long.reason), (2, Some(RetryError::MaxTime)));
}

// Rule G2.
#[tokio::test]
async fn limits_on_attempts_are_real() {
    let test = begin().max_attempts(1);
    let stuck = || async {
        tokio::time::sleep(secs(60)).await;
        Ok::<u32, Error>(1)
    };
    let started = Instant::now();
    let report = retry(&STORE, stuck).attempt_timeout(millis(20)).report().await;
    assert!(started.elapsed() >= millis(20));
    assert!(matches!(report.outcome, Err(Error::TimedOut(error)) if error.limit() == TimeLimit::Attempt));
    assert_eq!(test.only().classes, [Some(RetryErrorType::Timeout)]);
}

#[tokio::test(start_paused = true)]
async fn waits_are_slept_in_real_time_if_that_is_wanted() {
    let (test, started) = (begin().real_time(), tokio::time::Instant::now());
    let _ = fetch(&Flaky::new(1, Failed::SAFE.after(secs(30)))).await;
    assert_eq!(started.elapsed(), secs(30));
    assert!(test.skipped().is_empty());
    assert_eq!(test.only().delays, [secs(30)]);
}

// Rule G2.
#[test]
fn blocking_calls_do_not_sleep() {
    let (test, service, started) = (begin(), Flaky::new(2, Failed::SAFE.after(secs(100))), Instant::now());
    assert_eq!(retry_blocking(&STORE, || service.call()).name("read").run(), Ok(3));
    assert!(started.elapsed() < secs(100));
    assert_eq!((test.only().name, test.skipped()), ("read", vec![secs(100); 2]));
}

// Rules G1, G2.
#[tokio::test]
async fn a_limiters_waits_are_skipped_and_its_clock_goes_on() {
    static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new();
    {
        let test = begin().quota(u32::MAX).max_attempts(50);
        let service = Flaky::new(30, Failed::THROTTLED);
        assert_eq!(retry(&TABLE, async || service.call()).run().await, Ok(31));
        assert!(TABLE.send_rate().is_some());
        assert!(test.skipped().iter().sum::<Duration>() > secs(30), "{:?}", test.skipped());
    }
    assert_eq!(TABLE.send_rate(), None);
}

#[tokio::test]
async fn a_future_that_is_dropped_leaves_an_operation_that_never_ended() {
    let test = begin();
    let stuck = retry(&STORE, std::future::pending::<Result<(), Failed>>);
    let _ = tokio::time::timeout(millis(1), stuck.run()).await;
    let call = test.only();
    assert_eq!((call.attempts, call.reason, call.has_ended), (1, None, false));
}

/// The message of a panic.
fn message(panics: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(panics)).unwrap_err();
    payload.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[tokio::test]
async fn assertions_list_what_was_expected_and_what_happened() {
    let test = begin().max_attempts(2);
    let none = message(|| _ = test.only());
    assert!(
        none.starts_with("expected: one operation\n  actual: 0 operations\n  a guard reaches its own thread only: "),
        "{none}"
    );
    assert!(
        none.contains("`handle.run(|| ..)`") && none.ends_with("`tokio::spawn(test.handle().wrap(task))`"),
        "{none}"
    );
    let call = || retry(&STORE, async || Err::<(), _>(Failed::THROTTLED.after(secs(3)))).name("get").run();
    let _ = call().await;
    let actual = "2 attempts, stopped by max_attempts (all attempts were made), operation `get`
    attempt 1 failed (throttling), then a delay of 3s
    attempt 2 failed (throttling)
";
    assert_eq!(test.only().to_string(), actual);
    assert_eq!(
        message(|| test.only().assert_ended(1, None)),
        format!("expected: 1 attempt, a success\n  actual: {actual}")
    );
    let _ = call().await;
    assert!(message(|| _ = test.only()).starts_with("expected: one operation\n  actual: 2 operations\n  2 attempts,"));
}

/// Returns the message of a panic, if there is one.
fn panic_of(action: impl FnOnce()) -> Option<String> {
    let panic = catch_unwind(AssertUnwindSafe(action)).err()?;
    Some(panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

// Rule G6.
#[test]
fn a_guard_that_is_dropped_at_once_panics_and_names_the_line() {
    let line = line!() + 1;
    let message = panic_of(|| drop(begin())).unwrap();
    assert!(message.contains(&format!("test_mode.rs:{line}:")), "{message}");
    assert!(message.contains("let test = retry_core::test::begin();"), "{message}");
    assert!(message.contains("assert!(test.operations().is_empty())"), "{message}");
    #[expect(clippy::let_underscore_must_use, reason = "this is the mistake")]
    let options = panic_of(|| {
        let _ = begin().quota(9).max_attempts(2).seed(7).real_time();
    });
    assert!(options.is_some(), "its options are no use");
    assert!(!is_active(), "it has ended");
}

// Rule G6.
#[test]
fn a_guard_that_was_used_in_any_way_does_not_panic() {
    let fail = || retry_blocking(&STORE, || Err::<(), _>(Failed::FATAL)).run();
    let uses: [(&str, &dyn Fn()); 9] = [
        ("an operation", &|| {
            let _test = begin();
            fail().unwrap_err();
        }),
        ("an operation that began and was dropped", &|| {
            let _test = begin();
            let mut call = Box::pin(retry(&STORE, std::future::pending::<Result<(), Failed>>).run());
            poll_once(call.as_mut());
        }),
        ("a strategy that is driven by hand", &|| {
            let _test = begin();
            assert_eq!(STORE.quota().available(), 500);
        }),
        ("a question", &|| {
            let _test = begin();
            assert!(is_active());
        }),
        ("its records", &|| {
            let test = begin();
            assert!(test.operations().is_empty());
        }),
        ("its waits", &|| {
            let test = begin();
            assert!(test.skipped().is_empty());
        }),
        ("a handle", &|| {
            let test = begin();
            let _handle = test.handle();
        }),
        ("a nested guard", &|| {
            let _test = begin();
            let _inner = begin();
            fail().unwrap_err();
        }),
        ("a task that entered it", &|| {
            let test = begin();
            test.handle().run(|| ());
        }),
    ];
    for (used, case) in uses {
        assert_eq!(panic_of(case), None, "{used}");
    }
}

// Rule G6.
#[test]
fn a_guard_that_is_dropped_during_a_panic_adds_none() {
    let message = catch_unwind(|| {
        let _test = begin();
        panic!("the test failed before");
    });
    assert_eq!(message.unwrap_err().downcast_ref(), Some(&"the test failed before"));
}
