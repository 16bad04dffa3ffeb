//! `max_attempts` of one call, which may be lower than that of its strategy.

use crate::support::{Failed, Recorder, kept, secs};
use retry_core::drive::{self, Next, Operation, Settled};
use retry_core::observe::NoHedge;
use retry_core::test::begin;
use retry_core::time::ManualTimer;
use retry_core::{
    Event, EventKind, Hedge, Jitter, Observer, PatientRetryStrategy, RetryError, RetryQuota, StandardRetryPolicy,
    StandardRetryStrategy, Stop, retry, retry_blocking, retry_with_context, retryable, without_retries,
};
use retry_limits::PacedRetryStrategy;
use std::cell::{Cell, RefCell};
use std::future::{pending, ready};
use std::num::NonZeroU32;
use std::task::Waker;
use tokio::time::sleep;

type Outcome = Result<u32, Failed>;

const SAFE: Outcome = Err(Failed::SAFE);

/// Five attempts without a backoff, and a cost of 5 for each retry.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0))
}

/// The attempts, the reason and the cost of an operation.
type Run = (u32, Option<RetryError>, u32);

const fn used_up(attempts: u32, quota: u32) -> Run {
    (attempts, Some(RetryError::MaxAttempts), quota)
}

#[retryable(strategy = strategy, max_attempts = 2, on_end = |report| reason.set(report.reason))]
async fn twice(strategy: &StandardRetryStrategy, calls: &Cell<u32>, reason: &Cell<Option<RetryError>>) -> Outcome {
    calls.set(calls.get() + 1);
    SAFE
}

#[retryable(strategy = strategy, max_attempts = attempts, on_end = |report| reason.set(report.reason), blocking)]
fn blocking(
    strategy: &StandardRetryStrategy,
    attempts: impl Into<Option<NonZeroU32>>,
    calls: &Cell<u32>,
    reason: &Cell<Option<RetryError>>,
) -> Outcome {
    calls.set(calls.get() + 1);
    SAFE
}

/// Fails in each form with at most two attempts, and with at most this many where the number is an expression.
async fn fails(form: &str, strategy: &StandardRetryStrategy, most: u32) -> Run {
    let (calls, reason) = (Cell::new(0), Cell::new(None));
    let fail = || {
        calls.set(calls.get() + 1);
        ready(SAFE)
    };
    match form {
        "closure" => reason.set(retry(strategy, fail).max_attempts(most).report().await.reason),
        "hedged closure" => {
            let call = retry(strategy, fail).max_attempts(most).idempotent(true).hedge(kept(Hedge::after(secs(1))));
            reason.set(call.report().await.reason);
        }
        "blocking closure" => {
            let call = retry_blocking(strategy, || {
                calls.set(calls.get() + 1);
                SAFE
            });
            reason.set(call.try_max_attempts(most).unwrap().report().reason);
        }
        "attribute" => assert_eq!(twice(strategy, &calls, &reason).await, SAFE),
        "blocking attribute" => {
            let most = NonZeroU32::new(most).unwrap();
            assert_eq!(blocking(strategy, most, &calls, &reason), SAFE);
        }
        _ => {
            let mut operation = Operation::builder(strategy, "get").max_attempts(most).begin();
            while let Next::Attempt { .. } = operation.next(Waker::noop()) {
                operation.sent();
                calls.set(calls.get() + 1);
                let directive = operation.evaluate(&StandardRetryPolicy::new(), &drive::Outcome::new(SAFE));
                if let Settled::Done(ended) = operation.settle(directive) {
                    assert_eq!(ended.attempts, calls.get());
                    reason.set(ended.reason);
                }
            }
        }
    }
    (calls.get(), reason.get(), strategy.quota().available())
}

const FORMS: [&str; 6] =
    ["closure", "hedged closure", "blocking closure", "attribute", "blocking attribute", "by hand"];

// Rules R1, R26.
#[tokio::test(start_paused = true)]
async fn the_lower_number_of_the_call_applies_and_nothing_is_paid_for_a_retry_that_is_not_made() {
    for form in FORMS {
        assert_eq!(fails(form, &standard(), 2).await, used_up(2, 500 - 5), "{form}");
    }
}

// Rule R26.
#[tokio::test(start_paused = true)]
async fn one_attempt_is_no_retry() {
    for form in FORMS.into_iter().filter(|form| *form != "attribute") {
        assert_eq!(fails(form, &standard(), 1).await, used_up(1, 500), "{form}");
    }
}

// Rule R26.
#[tokio::test(start_paused = true)]
async fn a_higher_number_does_not_raise_that_of_the_strategy() {
    let once = || standard().max_attempts(1);
    for form in FORMS {
        assert_eq!(fails(form, &once(), 7).await, used_up(1, 500), "{form}");
    }
}

// Rule R26.
#[test]
fn none_in_the_attribute_leaves_the_number_of_the_strategy() {
    let (calls, reason) = (Cell::new(0), Cell::new(None));
    assert_eq!(blocking(&standard(), None, &calls, &reason), SAFE);
    assert_eq!(calls.get(), 5);
}

// Rule R26.
#[tokio::test(start_paused = true)]
async fn limits_and_handles_that_are_set_later_keep_the_number() {
    let (strategy, stop) = (standard(), Stop::new());
    let call = || retry(&strategy, || ready(SAFE)).max_attempts(2);
    let attempts = [
        call().max_time(secs(60)).report().await.attempts,
        call().attempt_timeout(secs(60)).report().await.attempts,
        call().deadline(tokio::time::Instant::now() + secs(60)).report().await.attempts,
        call().stop(&stop).report().await.attempts,
        call().stop_when(pending::<()>()).report().await.attempts,
        call().timed_out(|_| Failed::TIMEOUT).max_time(secs(60)).report().await.attempts,
        call().max_time(secs(60)).max_attempts(3).report().await.attempts,
        call().max_attempts(None).report().await.attempts,
    ];
    assert_eq!(attempts, [2, 2, 2, 2, 2, 2, 3, 5]);
}

// Rules R7, R26.
#[tokio::test(start_paused = true)]
async fn other_reasons_come_first() {
    let strategy = standard();
    let report = retry(&strategy, || ready(Err::<u32, _>(Failed::FATAL))).max_attempts(1).report().await;
    assert_eq!(report.reason, Some(RetryError::NotRetryable));
    let report = without_retries(retry(&strategy, || ready(SAFE)).max_attempts(1).report()).await;
    assert_eq!(report.reason, Some(RetryError::Disabled));
    // The quota is not asked.
    let dry = standard().quota_capacity(0);
    let report = retry(&dry, || ready(SAFE)).max_attempts(1).report().await;
    assert_eq!(report.reason, Some(RetryError::MaxAttempts));
    // A wait that the server asks for is not looked at.
    let asks = Err::<u32, _>(Failed::SAFE.after(secs(100_000)));
    let report = retry(&strategy, || ready(asks)).max_attempts(1).report().await;
    assert_eq!(report.reason, Some(RetryError::MaxAttempts));
}

// Rules R23, R26.
#[tokio::test(start_paused = true)]
async fn of_this_and_unlimited_attempts_the_last_one_applies() {
    let (strategy, calls) = (standard().quota_capacity(60), Cell::new(0));
    let call = || {
        calls.set(0);
        retry(&strategy, || {
            calls.set(calls.get() + 1);
            ready(SAFE)
        })
    };
    let report = call().unlimited_attempts().max_attempts(3).report().await;
    assert_eq!((calls.get(), report.reason), (3, Some(RetryError::MaxAttempts)));
    let report = call().max_attempts(3).unlimited_attempts().report().await;
    assert_eq!((calls.get(), report.reason), (1 + (60 - 10) / 5, Some(RetryError::QuotaExhausted)));
}

// Rule R26.
#[test]
fn zero_is_an_error_with_a_type() {
    let strategy = standard();
    let call = || retry_blocking(&strategy, || SAFE);
    let error = call().try_max_attempts(0).err().unwrap();
    assert_eq!((error.setting(), error.value()), ("max_attempts", "0"));
    let other = Operation::builder(&strategy, "get").try_max_attempts(0).unwrap_err();
    assert_eq!(other, error);
    assert_eq!(StandardRetryStrategy::new().try_max_attempts(0).unwrap_err(), error);
    std::panic::catch_unwind(|| drop(retry_blocking(&standard(), || SAFE).max_attempts(0))).unwrap_err();
    std::panic::catch_unwind(|| drop(Operation::builder(&standard(), "get").max_attempts(0))).unwrap_err();
}

/// Whether hedges were sent, and why not.
#[derive(Default)]
struct Hedges(RefCell<Vec<Option<NoHedge>>>);

impl Observer for Hedges {
    fn observe(&self, event: &Event) {
        match event.kind {
            EventKind::HedgeSent => self.0.borrow_mut().push(None),
            EventKind::HedgeNotSent { reason, .. } => self.0.borrow_mut().push(Some(reason)),
            _ => {}
        }
    }
}

#[retryable(strategy = strategy, observer = hedges, idempotent, hedge = "1s", max_attempts = attempts)]
async fn hedged(strategy: &StandardRetryStrategy, attempts: NonZeroU32, hedges: &Hedges, calls: &Cell<u32>) -> Outcome {
    calls.set(calls.get() + 1);
    sleep(secs(3)).await;
    SAFE
}

// Rules R26, V3, V5.
#[tokio::test(start_paused = true)]
async fn a_hedge_is_one_of_the_attempts() {
    let expected = |attempts| match attempts {
        1 => (1, vec![Some(NoHedge::MaxAttempts)], 500),
        2 => (2, vec![None], 500 - 5),
        _ => (3, vec![None], 500 - 10),
    };
    for attempts in 1..=3 {
        let (strategy, hedges, calls) = (standard(), Hedges::default(), Cell::new(0));
        let call = retry(&strategy, async || {
            calls.set(calls.get() + 1);
            sleep(secs(3)).await;
            SAFE
        });
        let call = call.observer(&hedges).max_attempts(attempts).idempotent(true).hedge(kept(Hedge::after(secs(1))));
        let report = call.report().await;
        assert_eq!((report.attempts, report.reason), (attempts, Some(RetryError::MaxAttempts)));
        assert_eq!((calls.get(), hedges.0.take(), strategy.quota().available()), expected(attempts));

        let (strategy, hedges, calls) = (standard(), Hedges::default(), Cell::new(0));
        hedged(&strategy, NonZeroU32::new(attempts).unwrap(), &hedges, &calls).await.unwrap_err();
        assert_eq!((calls.get(), hedges.0.take(), strategy.quota().available()), expected(attempts));
    }
}

// Rule R26.
#[tokio::test(start_paused = true)]
async fn contexts_count_the_attempts_of_the_call() {
    let (strategy, attempts) = (standard(), RefCell::new(Vec::new()));
    let call = retry_with_context(&strategy, |context| {
        attempts.borrow_mut().push(context.attempt());
        ready(SAFE)
    });
    call.max_attempts(3).run().await.unwrap_err();
    assert_eq!(attempts.take(), [1, 2, 3]);
}

// Rules G12, R26.
#[test]
fn under_a_test_guard_the_lower_one_of_its_number_and_that_of_the_call_applies() {
    for (guard, call, attempts) in [(1, 3, 1), (4, 3, 3), (9, 7, 7)] {
        let test = begin().max_attempts(guard);
        let strategy = standard();
        retry_blocking(&strategy, || SAFE).max_attempts(call).run().unwrap_err();
        let operation = test.only();
        assert_eq!((operation.attempts, operation.reason), (attempts, Some(RetryError::MaxAttempts)));
    }
}

// Rules O18, R26.
#[test]
fn nested_operations_multiply_the_numbers_that_hold() {
    let test = begin();
    let (outer, inner, calls) = (standard(), standard(), Cell::new(0));
    let call = retry_blocking(&outer, || {
        let inner = retry_blocking(&inner, || {
            calls.set(calls.get() + 1);
            if calls.get() == 1 { SAFE } else { Ok(1) }
        });
        inner.name("inner").max_attempts(2).run()
    });
    call.name("outer").max_attempts(3).run().unwrap();
    assert_eq!(test.nested()[0].max_attempts, Some(6));
    let endless = retry_blocking(&outer, || {
        calls.set(0);
        retry_blocking(&inner, || {
            calls.set(calls.get() + 1);
            if calls.get() == 1 { SAFE } else { Ok(1) }
        })
        .name("inner")
        .run()
    });
    endless.name("endless").unlimited_attempts().run().unwrap();
    assert_eq!(test.nested()[1].max_attempts, None);
}

// Rules R18, R26.
#[test]
fn a_strategy_of_a_users_own_is_told_and_its_grant_is_released() {
    let recorder = Recorder::new();
    let report = retry_blocking(&recorder, || SAFE).max_attempts(2).report();
    assert_eq!((report.attempts, report.reason), (2, Some(RetryError::MaxAttempts)));
    assert_eq!(recorder.last_failure().unwrap().refusal(), Some(RetryError::MaxAttempts));
    assert_eq!(recorder.calls(), ["initial", "ready", "refresh", "ready", "refresh", "release"]);
}

// Rules L7, R26.
#[test]
fn attempts_that_a_limiter_repeats_without_counting_them_count() {
    let (strategy, timer) = (PacedRetryStrategy::over(standard()), ManualTimer::new());
    let throttled = || Err::<u32, _>(Failed::THROTTLED);
    let report = retry_blocking(&strategy, throttled).timer(&timer).max_attempts(4).report();
    assert_eq!((report.attempts, report.reason), (4, Some(RetryError::MaxAttempts)));
}

// Rules R26, U14.
#[test]
fn the_last_attempt_of_the_call_is_never_a_probe() {
    static STRATEGY: PatientRetryStrategy<retry_core::ExponentialBackoff, retry_core::TokenBucket> =
        PatientRetryStrategy::over(standard().max_attempts(10).quota_capacity(0));
    let probes = |most| {
        let clock = ManualTimer::new();
        let mut operation = Operation::builder(&STRATEGY, "get").clock(&clock).max_attempts(most).begin();
        loop {
            match operation.next(Waker::noop()) {
                Next::Wait(time) => clock.advance(time),
                Next::Attempt { .. } => {
                    operation.sent();
                    let directive = operation.evaluate(&StandardRetryPolicy::new(), &drive::Outcome::new(SAFE));
                    operation.settle(directive);
                }
                Next::Stop(ended) => break (ended.attempts, ended.reason),
            }
        }
    };
    assert_eq!(probes(1), (1, Some(RetryError::MaxAttempts)));
    assert_eq!(probes(2), (1, Some(RetryError::NoRecovery)));
    assert_eq!(probes(3), (2, Some(RetryError::NoRecovery)));
}
