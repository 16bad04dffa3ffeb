//! The ends of waits, in each form of call.

mod forms;

use super::{Waits, waits, waits_with};
use crate::support::timers::since_start;
use crate::support::{Failed, millis, secs};
use forms::{BLOCKING, BLOCKING_LIMITED, BLOCKING_STOPPABLE, Form, LIMITED, Nth, STOPPABLE, UNLIMITED, World};
use retry_core::time::ManualTimer;
use retry_core::{
    Jitter, PatientRetryStrategy, RetryError, RetryStrategy, StandardRetryStrategy, retry, without_retries,
};
use std::cell::RefCell;
use std::future::ready;
use std::thread;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// What became of an operation: its outcome, the number of its calls, its reason, and how long it took.
type End = (Result<u32, Nth>, u32, Option<RetryError>, Duration);

/// Returns a strategy with three attempts, of which the last one is never a probe. It has not seen a success, so the second one is
/// a probe after one second.
fn three() -> Waits {
    waits_with(3)
}

/// Runs a call in each form, with other futures beside it, and asserts that it ends in this way.
async fn each_ends(forms: &[(&str, Form)], beside: impl AsyncFn(&World), expected: End) {
    for (form, call) in forms {
        let (world, began) = (World::new(three()), Instant::now());
        let outcome = tokio::join!(call(world), beside(world)).0;
        assert_eq!((outcome, world.calls(), world.reason(), began.elapsed()), expected, "{form}");
        assert_eq!(world.waiting(), 0, "{form}");
    }
}

// Rules U2, U3, U18.
#[tokio::test(start_paused = true)]
async fn a_wait_in_vain_ends_after_15_seconds_with_the_last_outcome() {
    each_ends(UNLIMITED, async |_| {}, (Err(Nth(2)), 2, Some(RetryError::NoRecovery), secs(15))).await;
    for (form, call) in BLOCKING {
        let (world, timer) = (World::new(three()), ManualTimer::new());
        let end = (call(world, &timer), world.calls(), world.reason(), since_start(&timer));
        assert_eq!(end, (Err(Nth(2)), 2, Some(RetryError::NoRecovery), secs(15)), "{form}");
        assert_eq!(world.waiting(), 0, "{form}");
    }
}

// Rules U2, U3, U18.
#[tokio::test(start_paused = true)]
async fn a_time_limit_ends_a_wait_in_vain_with_the_last_outcome() {
    each_ends(LIMITED, async |_| {}, (Err(Nth(2)), 2, Some(RetryError::NoRecovery), secs(40))).await;
    for (form, call) in BLOCKING_LIMITED {
        let (world, timer) = (World::new(three()), ManualTimer::new());
        let end = (call(world, &timer), world.calls(), world.reason(), since_start(&timer));
        assert_eq!(end, (Err(Nth(2)), 2, Some(RetryError::NoRecovery), secs(40)), "{form}");
    }
}

// Rules T17, T18, U17.
#[tokio::test(start_paused = true)]
async fn a_stopped_operation_ends_its_wait_immediately_with_the_last_outcome() {
    let stops = async |world: &World| {
        sleep(secs(7)).await;
        world.stop.stop();
    };
    each_ends(STOPPABLE, stops, (Err(Nth(2)), 2, Some(RetryError::Stopped), secs(7))).await;
}

// Rules T17, U17, U18.
#[test]
fn a_stopped_operation_that_blocks_its_thread_ends_its_wait() {
    for (form, call) in BLOCKING_STOPPABLE {
        let world = World::new(waits_with(2).max_wait_for_service(secs(3_600)));
        let thread = thread::spawn(|| call(world));
        while world.waiting() == 0 {
            thread::yield_now();
        }
        world.stop.stop();
        assert_eq!(thread.join().unwrap(), Err(Nth(1)), "{form}");
        assert_eq!((world.calls(), world.reason(), world.waiting()), (1, Some(RetryError::Stopped), 0), "{form}");
    }
}

// Rules U2, U18.
#[tokio::test(start_paused = true)]
async fn a_wait_ends_in_each_form_when_there_is_evidence() {
    for (form, call) in [UNLIMITED, LIMITED, STOPPABLE].concat() {
        let (world, began) = (World::new(waits_with(2)), Instant::now());
        world.succeeds_at(2);
        let outcome = tokio::join!(call(world), async {
            sleep(secs(7)).await;
            for _ in 0..2 {
                retry(&world.strategy, || ready(Ok::<_, Nth>(0))).run().await.unwrap();
            }
        });
        assert_eq!((outcome.0, world.calls(), world.reason()), (Ok(2), 2, None), "{form}");
        assert_eq!((began.elapsed(), world.waiting()), (secs(7), 0), "{form}");
    }
}

// Rule U3.
#[tokio::test(start_paused = true)]
async fn a_limit_that_is_longer_or_shorter_than_15_seconds_replaces_them() {
    for time in [millis(1), millis(900), secs(2), secs(14), secs(16), secs(1_000)] {
        let strategy = waits_with(2);
        let call = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE))).max_time(time);
        let report = call.report().await;
        assert_eq!((report.outcome, report.attempts, report.elapsed), (Err(Failed::SAFE), 1, time));
        assert_eq!(report.reason, Some(RetryError::NoRecovery), "{time:?}");
    }
}

// Rule U3.
#[tokio::test(start_paused = true)]
async fn the_longest_wait_can_be_set() {
    let strategy = waits_with(2).max_wait_for_service(secs(100));
    let report = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE))).report().await;
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::NoRecovery), secs(100)));
}

// Rule U3.
#[tokio::test(start_paused = true)]
async fn all_waits_of_an_operation_together_last_15_seconds() {
    // Each attempt takes three seconds, which are not a part of them.
    let (strategy, begun, started) = (waits(), RefCell::new(Vec::new()), Instant::now());
    retry(&strategy, || ready(Ok::<u32, Failed>(1))).run().await.unwrap();
    let attempt = async || {
        begun.borrow_mut().push(started.elapsed());
        sleep(secs(3)).await;
        Err::<u32, _>(Failed::SAFE)
    };
    let report = retry(&strategy, attempt).report().await;
    let attempts = u32::try_from(begun.borrow().len()).unwrap();
    assert_eq!((report.attempts, report.reason), (attempts, Some(RetryError::NoRecovery)));
    assert!(attempts > 3, "{begun:?}");
    assert_eq!(report.elapsed, secs(15) + attempts * secs(3), "{begun:?}");
}

// Rule U6.
#[tokio::test(start_paused = true)]
async fn a_wait_that_the_server_asks_for_comes_first_although_there_is_evidence() {
    let (strategy, calls) = (waits(), RefCell::new(Vec::new()));
    let began = Instant::now();
    let attempt = async || {
        calls.borrow_mut().push(began.elapsed());
        if calls.borrow().len() == 1 { Err(Failed::SAFE.after(secs(9))) } else { Ok(1) }
    };
    let evidence = async {
        for _ in 0..100 {
            sleep(millis(50)).await;
            retry(&strategy, || ready(Ok::<u32, Failed>(1))).run().await.unwrap();
        }
    };
    let report = tokio::join!(retry(&strategy, attempt).report(), evidence).0;
    assert_eq!((report.outcome, report.reason), (Ok(1), None));
    let sent = calls.borrow()[1];
    // Half a credit is left then, and a probe follows a second later.
    assert_eq!(sent, secs(9 + 1));
}

// Rule U6.
#[tokio::test(start_paused = true)]
async fn no_backoff_comes_before_a_wait_for_the_service() {
    let standard = StandardRetryStrategy::new().max_attempts(2).jitter(Jitter::Fixed(1.0)).quota_capacity(0);
    let strategy = PatientRetryStrategy::over(standard);
    for (error, hint) in [(Failed::SAFE, 0), (Failed::SAFE.after(millis(300)), 300), (Failed::THROTTLED, 0)] {
        let report = retry(&strategy, || ready(Err::<u32, _>(error))).report().await;
        assert_eq!(report.elapsed, millis(hint) + secs(15));
    }
}

// Rule U6.
#[tokio::test(start_paused = true)]
async fn a_wait_that_the_server_asks_for_is_not_a_part_of_the_15_seconds() {
    let strategy = waits_with(2);
    let report = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE.after(secs(9))))).report().await;
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::NoRecovery), secs(9 + 15)));
}

// Rules U1, R7.
#[tokio::test(start_paused = true)]
async fn what_is_refused_for_another_reason_does_not_wait() {
    let ends = async |strategy: &Waits, error: Failed, reason| {
        let began = Instant::now();
        let report = retry(strategy, || ready(Err::<u32, _>(error))).max_time(secs(20)).report().await;
        assert_eq!((report.outcome, report.attempts, report.reason), (Err(error), 1, Some(reason)));
        assert_eq!((began.elapsed(), strategy.waiting_operations()), (Duration::ZERO, Some(0)));
    };
    let strategy = waits();
    ends(&strategy, Failed::FATAL, RetryError::NotRetryable).await;
    ends(&strategy, Failed::SAFE.after(secs(301)), RetryError::RetryAfterTooLong).await;
    ends(&strategy, Failed::SAFE.after(secs(21)), RetryError::MaxTime).await;
    ends(&waits_with(1), Failed::SAFE, RetryError::MaxAttempts).await;
    strategy.standard().set_enabled(false);
    ends(&strategy, Failed::SAFE, RetryError::Disabled).await;
    let report = without_retries(retry(&waits(), || ready(Err::<u32, _>(Failed::SAFE))).report()).await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::Disabled)));
}

// Rule U2.
#[tokio::test(start_paused = true)]
async fn a_closure_for_retries_sees_each_wait_and_the_end() {
    let (strategy, seen) = (three(), RefCell::new(Vec::new()));
    let call = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE)));
    let call = call.on_retry(|_, event| seen.borrow_mut().push((event.kind.as_str(), event.attempt, event.elapsed)));
    call.run().await.unwrap_err();
    assert_eq!(
        seen.into_inner(),
        [("waiting_for_service", 1, Duration::ZERO), ("waiting_for_service", 2, secs(1)), ("stopped", 2, secs(15)),]
    );
}
