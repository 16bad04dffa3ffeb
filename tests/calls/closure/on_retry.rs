//! Closures that are called with each failure and its error.

use crate::script::{Error, SAFE, time_was_up};
use crate::support::timers::Noted;
use crate::support::{Failed, Flaky, Recorder, kept, millis, poll_once, secs};
use retry_core::strategy::DelaySource;
use retry_core::{
    Event, EventKind, Hedge, Jitter, RetryError, RetryErrorType, RetryQuota, StandardRetryStrategy, Stop, TimeLimit,
    retry, retry_blocking,
};
use std::future::{Ready, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, sleep};

fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn on_retry_gets_each_error_with_the_delay_and_the_last_error_with_the_reason() {
    let (strategy, mut calls) = (standard().max_attempts(2), Vec::new());
    let mut errors = [Failed::THROTTLED.after(secs(3)), Failed::TIMEOUT].into_iter();
    let call = retry(&strategy, || {
        let error = errors.next().unwrap();
        async move { Err::<(), _>(error) }
    });
    let outcome = call.name("get").on_retry(|error, event| calls.push((*error, event.clone()))).run().await;
    assert_eq!(outcome, Err(Failed::TIMEOUT));
    let [(first, scheduled), (second, stopped)] = &calls[..] else { panic!("{calls:?}") };
    assert_eq!((*first, *second), (Failed::THROTTLED.after(secs(3)), Failed::TIMEOUT));
    assert_eq!((scheduled.operation, scheduled.attempt, scheduled.elapsed), ("get", 1, Duration::ZERO));
    assert_eq!(scheduled.kind.delay(), Some(secs(3)));
    assert_eq!(
        scheduled.kind,
        EventKind::RetryScheduled {
            error_type: Some(RetryErrorType::Throttling),
            delay: secs(3),
            delay_source: DelaySource::RetryAfter,
            quota: Some(495),
            quota_capacity: Some(500),
            quota_mode: None,
            send_rate: None,
        }
    );
    assert_eq!((stopped.attempt, stopped.elapsed, stopped.kind.delay()), (2, secs(3), None));
    let (reason, error_type) = (RetryError::MaxAttempts, Some(RetryErrorType::Timeout));
    assert_eq!(
        stopped.kind,
        EventKind::Stopped {
            reason,
            error_type,
            waiting: None,
            quota: Some(495),
            quota_capacity: Some(500),
            quota_mode: None,
            send_rate: None
        }
    );
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn on_retry_is_not_called_for_a_success() {
    let (strategy, service, mut calls) = (standard(), Flaky::new(1, Failed::SAFE), 0);
    assert_eq!(retry(&strategy, async || service.call()).on_retry(|_, _| calls += 1).run().await, Ok(2));
    assert_eq!(calls, 1);
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn on_retry_gets_the_returned_error_when_max_time_ends_the_call() {
    let (strategy, mut calls) = (standard(), Vec::new());
    let mut is_first = true;
    let call = retry(&strategy, || {
        let first = std::mem::take(&mut is_first);
        async move {
            if !first {
                sleep(secs(60)).await;
            }
            SAFE
        }
    });
    let call = call.max_time(millis(1500)).on_retry(|error: &Error, event| calls.push((*error, event.kind)));
    assert_eq!(call.run().await, SAFE);
    let kinds: Vec<_> = calls.iter().map(|(_, kind)| kind.as_str()).collect();
    assert_eq!(kinds, ["retry_scheduled", "stopped"]);
    let reason = RetryError::MaxTime;
    assert_eq!(
        calls[1],
        (
            SAFE.unwrap_err(),
            EventKind::Stopped {
                reason,
                error_type: None,
                waiting: None,
                quota: Some(495),
                quota_capacity: Some(500),
                quota_mode: None,
                send_rate: None
            }
        )
    );
}

// Rule O9.
#[tokio::test(start_paused = true)]
async fn a_call_that_is_stopped_before_its_first_attempt_reports_the_attempt_0() {
    fn never() -> Result<u32, Error> {
        unreachable!("the call is stopped before its first attempt")
    }
    let (strategy, stop, mut told) = (standard(), Stop::new(), Vec::new());
    stop.stop();
    let mut note = |error: &Error, event: &Event| {
        let limit = time_was_up(&Err(*error)).map(|(limit, _)| limit);
        told.push((event.attempt, event.kind.as_str(), limit));
    };
    let call = || retry(&strategy, || -> Ready<_> { ready(never()) });
    assert!(call().stop(&stop).on_retry(&mut note).run().await.is_err());
    assert!(call().on_retry(&mut note).stop_when(ready(())).run().await.is_err());
    assert!(retry_blocking(&strategy, never).stop(&stop).on_retry(&mut note).run().is_err());
    assert_eq!(told, [(0, "stopped", Some(TimeLimit::Stop)); 3]);
}

// Rules O8, O9.
#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_over_before_its_first_attempt_reports_the_attempt_0() {
    fn never() -> Result<u32, Error> {
        unreachable!("the time is over before the first attempt")
    }
    let mut told = Vec::new();
    let mut note = |error: &Error, event: &Event| {
        let limit = time_was_up(&Err(*error)).map(|(limit, _)| limit);
        told.push((event.attempt, event.kind.as_str(), event.kind.reason(), limit));
    };
    // The limiter permits the first attempt after ten seconds.
    let [first, second, third, fourth] = [(); 4].map(|()| Recorder::new().waiting([secs(10)]));
    let call = |strategy| retry(strategy, || -> Ready<_> { ready(never()) });
    let hedge = kept(Hedge::after(millis(100)));
    let attempts = [
        call(&first).max_time(secs(2)).on_retry(&mut note).report().await.attempts,
        call(&second).deadline(Instant::now() + secs(2)).on_retry(&mut note).report().await.attempts,
        call(&third).max_time(secs(2)).on_retry(&mut note).idempotent(true).hedge(hedge).report().await.attempts,
        retry_blocking(&fourth, never).timer(Noted::default()).max_time(secs(2)).on_retry(&mut note).report().attempts,
    ];
    assert_eq!(attempts, [0; 4]);
    let stopped = |limit| (0, "stopped", Some(RetryError::MaxTime), Some(limit));
    let (max_time, deadline) = (stopped(TimeLimit::Operation), stopped(TimeLimit::Deadline));
    assert_eq!(told, [max_time, deadline, max_time, max_time]);
}

#[tokio::test(start_paused = true)]
async fn on_retry_is_called_when_the_strategy_refused_the_initial_token() {
    let (strategy, mut calls) = (Recorder::new().refusing_initial_token(RetryError::Refused), Vec::new());
    let call = retry(&strategy, async || Err::<(), _>(Failed::SAFE));
    let _ = call.on_retry(|_, event| calls.push(event.kind)).run().await;
    let (reason, error_type) = (RetryError::Refused, Some(RetryErrorType::Other));
    assert_eq!(
        calls,
        [EventKind::Stopped {
            reason,
            error_type,
            waiting: None,
            quota: None,
            quota_capacity: None,
            quota_mode: None,
            send_rate: None
        }]
    );
}

#[test]
fn on_retry_is_called_by_a_blocking_call() {
    let (strategy, time, service, mut calls) = (standard(), Noted::default(), Flaky::new(1, Failed::SAFE), Vec::new());
    let call = retry_blocking(&strategy, || service.call()).timer(&time);
    let report = call.on_retry(|error, event| calls.push((*error, event.kind.delay()))).report();
    assert_eq!((report.outcome, report.elapsed), (Ok(2), secs(1)));
    assert_eq!(calls, [(Failed::SAFE, Some(secs(1)))]);
}

// Rule D6.
#[test]
fn a_paid_retry_is_refunded_if_the_closure_panics() {
    let strategy = standard();
    let call = retry(&strategy, async || Err::<(), _>(Failed::SAFE)).on_retry(|_, _| panic!("on_retry"));
    let mut call = pin!(call.run());
    assert!(catch_unwind(AssertUnwindSafe(|| poll_once(call.as_mut()))).is_err());
    assert_eq!(strategy.quota().available(), 500);
}

#[tokio::test(start_paused = true)]
async fn all_on_retry_closures_are_called() {
    let (strategy, service, mut calls) = (standard(), Flaky::new(1, Failed::SAFE), (0, 0));
    let call = retry(&strategy, async || service.call());
    let _ = call.on_retry(|_, _| calls.0 += 1).on_retry(|_, _| calls.1 += 1).run().await;
    assert_eq!(calls, (1, 1));
}
