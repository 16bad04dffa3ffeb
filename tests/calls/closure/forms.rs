//! Closures that block their thread, and closures that get a context.

use crate::script::{Error, time_was_up};
use crate::support::timers::{Noted, since_start};
use crate::support::{Failed, Flaky, millis, secs};
use retry_core::retry::retry_blocking_with_context;
use retry_core::time::{ManualTimer, StdTimer};
use retry_core::{
    AdaptiveRetryStrategy, AttemptContext, Clock, Event, Failure, Jitter, Observer, RetryDirective, RetryError,
    RetryErrorType, RetryQuota, StandardRetryStrategy, TimeLimit, policy_fn, retry_blocking, retry_with_context,
};
use std::cell::RefCell;
use std::io::{self, ErrorKind};
use std::sync::Mutex;

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

// Rules M9, O8.
#[test]
fn a_blocking_call_sleeps_on_its_thread_and_returns_a_report() {
    let (strategy, time, service) = (standard(), Noted::default(), Flaky::new(2, Failed::THROTTLED));
    let report = retry_blocking(&strategy, || service.call()).timer(&time).report();
    assert_eq!((report.outcome, report.attempts, report.reason), (Ok(3), 3, None));
    assert_eq!(report.elapsed, secs(3));
    assert_eq!(time.asked(), [("block", secs(1)), ("block", secs(2))]);
    assert_eq!(strategy.quota().available(), 500 - 5 - 5 + 1);
    let service = Flaky::new(1, Failed::FATAL);
    assert_eq!(retry_blocking(&strategy, || service.call()).timer(&time).run(), Err(Failed::FATAL));
    assert!(time.asked().is_empty());
}

#[test]
fn a_blocking_call_without_a_retry_needs_no_timer() {
    let (strategy, mut calls) = (standard(), 0);
    let call = retry_blocking(&strategy, || {
        calls += 1;
        Ok::<_, Failed>(calls)
    });
    assert_eq!(call.run(), Ok(1));
}

#[test]
fn a_blocking_call_accepts_when_retry_after_and_policy() {
    let (strategy, time) = (standard(), Noted::default());
    let refused = || Err::<(), _>(io::Error::from(ErrorKind::ConnectionRefused));
    let call = retry_blocking(&strategy, refused).timer(&time);
    let call = call.when(|error| error.kind() == ErrorKind::ConnectionRefused).retry_after(|_| Some(secs(3)));
    let report = call.report();
    assert_eq!((report.attempts, report.reason), (5, Some(RetryError::MaxAttempts)));
    assert_eq!(time.asked(), [secs(3), secs(3), secs(4), secs(8)].map(|wait| ("block", wait)));

    let mut left = 3;
    let countdown = retry_blocking(&strategy, || {
        left -= 1;
        left
    });
    let until_zero = policy_fn(|left: &i32| match left {
        0 => RetryDirective::succeed(),
        _ => RetryDirective::retry(RetryErrorType::Other),
    });
    assert_eq!(countdown.policy(until_zero).timer(&time).run(), 0);
}

// Rules T3, T11.
#[test]
fn max_time_bounds_the_waits_of_a_blocking_call_and_keeps_the_last_outcome() {
    let (strategy, time) = (standard(), Noted::default());
    let fails = || Err::<u32, _>(Error::Failed(Failed::SAFE));
    let report = retry_blocking(&strategy, fails).timer(&time).max_time(secs(5)).report();
    assert_eq!((report.outcome, report.attempts), (fails(), 3));
    assert_eq!((report.reason, report.elapsed), (Some(RetryError::MaxTime), secs(3)));

    // A longer attempt is not interrupted, and no other attempt begins.
    let slow = || {
        time.timer.advance(secs(6));
        fails()
    };
    let report = retry_blocking(&strategy, slow).timer(&time).max_time(secs(5)).report();
    assert_eq!((report.outcome, report.attempts, report.reason), (fails(), 1, Some(RetryError::MaxTime)));
}

#[test]
fn a_blocking_call_ends_if_its_send_would_come_after_max_time() {
    let strategy = AdaptiveRetryStrategy::over(standard());
    let time = Noted::default();
    for _ in 0..2 {
        let service = Flaky::new(1, Failed::THROTTLED);
        let _ = retry_blocking(&strategy, || service.call()).timer(&time).run();
    }
    let fails = || Err::<u32, _>(Error::Failed(Failed::THROTTLED));
    let report = retry_blocking(&strategy, fails).timer(&time).max_time(millis(1)).report();
    assert_eq!((report.attempts, report.reason), (0, Some(RetryError::MaxTime)), "no attempt was due in time");
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Operation, millis(1))));
}

#[test]
fn the_events_of_a_blocking_call_have_its_name() {
    struct Names(Mutex<Vec<String>>);
    impl Observer for Names {
        fn observe(&self, event: &Event) {
            self.0.lock().unwrap().push(format!("{} {}", event.operation, event.kind.as_str()));
        }
    }

    let (strategy, names) = (standard(), Names(Mutex::default()));
    let call = retry_blocking(&strategy, || Ok::<_, Failed>(())).observer(&names).name("read");
    assert_eq!(call.run(), Ok(()));
    assert_eq!(names.0.into_inner().unwrap(), ["read attempt_started", "read succeeded"]);
}

/// Checks the contexts of two attempts of one operation.
fn expect_two_contexts(contexts: &[AttemptContext]) {
    let [first, second] = contexts else { panic!("{contexts:?}") };
    assert_eq!((first.attempt(), second.attempt()), (1, 2));
    assert_eq!(first.operation_id(), second.operation_id());
    assert_eq!(first.previous_failure(), None);
    assert_eq!(second.previous_failure(), Some(Failure::of(&Failed::THROTTLED)));
}

// Rule M11.
#[tokio::test(start_paused = true)]
async fn a_closure_gets_the_context_of_each_attempt() {
    let (strategy, service, seen) = (standard(), Flaky::new(1, Failed::THROTTLED), RefCell::default());
    let call = retry_with_context(&strategy, |context| {
        let (service, seen): (_, &RefCell<Vec<_>>) = (&service, &seen);
        async move {
            seen.borrow_mut().push(context);
            service.call().map_err(Error::Failed)
        }
    });
    let report = call.max_time(secs(10)).attempt_timeout(secs(4)).report().await;
    assert_eq!((report.outcome, report.attempts), (Ok(2), 2));
    let seen = seen.into_inner();
    expect_two_contexts(&seen);
    assert_eq!([seen[0].time_left(), seen[1].time_left()], [Some(secs(4)), Some(secs(4))]);
}

// Rule M11.
#[test]
fn a_blocking_closure_gets_the_context_of_each_attempt() {
    let (strategy, time, service) = (standard(), ManualTimer::new(), Flaky::new(1, Failed::THROTTLED));
    let mut seen = Vec::new();
    let call = retry_blocking_with_context(&strategy, |context| {
        seen.push(context);
        service.call().map_err(Error::Failed)
    });
    assert_eq!(call.timer(&time).max_time(secs(10)).run(), Ok(2));
    expect_two_contexts(&seen);
    assert_eq!([seen[0].time_left(), seen[1].time_left()], [Some(secs(10)), Some(secs(9))]);
    assert_eq!(since_start(&time), secs(1));
}

#[test]
fn the_default_timer_of_a_blocking_call_is_that_of_the_standard_library() {
    let before = StdTimer.now();
    let report = retry_blocking(&standard(), || Ok::<_, Failed>(())).report();
    assert!(report.elapsed <= StdTimer.now().saturating_since(before));
}
