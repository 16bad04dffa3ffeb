//! The order of steps in one operation, rule by rule.

use crate::support::{Failed, Flaky, Recorder, millis, poll_once, secs};
use retry_core::strategy::ForeignToken;
use retry_core::{
    Jitter, RetryDirective, RetryError, RetryErrorType, RetryQuota, StandardRetryStrategy, retry, retryable,
};
use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// Returns a strategy with the maximum delays, so that elapsed times show the number of retries.
const fn longest() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

// Rule R2.
#[tokio::test(start_paused = true)]
async fn a_refused_initial_token_leaves_one_attempt_that_the_strategy_does_not_see() {
    let refusing = Recorder::new().refusing_initial_token(RetryError::QuotaExhausted);
    let flaky = Flaky::new(1, Failed::SAFE);
    let report = retry(&refusing, || async { flaky.call() }).report().await;
    assert_eq!(report.outcome, Err(Failed::SAFE));
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::Refused)));
    assert_eq!(refusing.calls(), ["initial"]);

    let report = retry(&refusing, || async { flaky.call() }).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (Ok(2), 1, None));
    assert_eq!(refusing.calls(), ["initial", "initial"]);
}

// Rule R2.
#[tokio::test(start_paused = true)]
async fn a_refused_initial_token_leaves_one_attempt_of_the_attribute_too() {
    #[retryable(strategy = strategy)]
    async fn call(strategy: &Recorder, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let refusing = Recorder::new().refusing_initial_token(RetryError::Refused);
    let flaky = Flaky::new(1, Failed::SAFE);
    assert_eq!(call(&refusing, &flaky).await, Err(Failed::SAFE));
    assert_eq!((flaky.calls(), refusing.calls()), (1, vec!["initial"]));
}

// Rule R3.
#[tokio::test(start_paused = true)]
async fn the_strategy_is_asked_again_after_each_wait_even_before_the_first_attempt() {
    let slow = Recorder::new().waiting([secs(3), Duration::ZERO, secs(2), secs(1)]);
    let started = Instant::now();
    let flaky = Flaky::new(1, Failed::SAFE);
    let sent = Cell::new(Vec::new());
    let outcome = retry(&slow, || async {
        let mut times = sent.take();
        times.push(started.elapsed());
        sent.set(times);
        flaky.call()
    });
    assert_eq!(outcome.run().await, Ok(2));
    // Waits of 3 and 0 seconds before the first attempt (a wait of zero means now), and of 2 and 1 before the second.
    assert_eq!(sent.take(), [secs(3), secs(6)]);
    let asked = ["initial", "ready", "ready", "refresh", "ready", "ready", "ready", "success"];
    assert_eq!(slow.calls(), asked);
}

// Rule R5.
#[tokio::test(start_paused = true)]
async fn rules_3_to_5_a_success_is_recorded_and_returned() {
    let recorder = Recorder::new();
    assert_eq!(retry(&recorder, || async { Flaky::new(0, Failed::SAFE).call() }).run().await, Ok(1));
    assert_eq!(recorder.calls(), ["initial", "ready", "success"]);
}

// Rule R6.
#[tokio::test(start_paused = true)]
async fn the_strategy_gets_final_failures_too() {
    let recorder = Recorder::new();
    let fatal = Failed { throttle: true, ..Failed::FATAL };
    let report = retry(&recorder, || async { Flaky::new(1, fatal).call() }).report().await;
    assert_eq!(report.reason, Some(RetryError::NotRetryable));
    assert_eq!(recorder.calls(), ["initial", "ready", "refresh"]);
    let failure = recorder.last_failure().unwrap();
    assert!(!failure.is_retryable());
    assert_eq!(failure.error_type(), Some(RetryErrorType::Throttling), "a limiter learns from final throttles");
}

// Rule R7.
#[tokio::test(start_paused = true)]
async fn a_final_failure_is_refused_before_the_number_of_attempts_is_checked() {
    static ONCE: StandardRetryStrategy = longest().max_attempts(1);
    let report = retry(&ONCE, || async { Flaky::new(1, Failed::FATAL).call() }).report().await;
    assert_eq!(report.reason, Some(RetryError::NotRetryable));
}

// Rule R7.
#[tokio::test(start_paused = true)]
async fn the_number_of_attempts_is_checked_before_the_hint() {
    static ONCE: StandardRetryStrategy = longest().max_attempts(1);
    let report = retry(&ONCE, || async { Flaky::new(1, Failed::SAFE.after(secs(3600))).call() }).report().await;
    assert_eq!(report.reason, Some(RetryError::MaxAttempts));
}

// Rule R7.
#[tokio::test(start_paused = true)]
async fn the_hint_is_checked_before_the_quota() {
    static POOR: StandardRetryStrategy = longest().quota_capacity(0);
    let report = retry(&POOR, || async { Flaky::new(1, Failed::SAFE.after(secs(3600))).call() }).report().await;
    assert_eq!(report.reason, Some(RetryError::RetryAfterTooLong));
}

// Rule R7.
#[tokio::test(start_paused = true)]
async fn the_remaining_time_is_checked_before_the_quota() {
    use retry_core::{Failure, RetryStrategy, TokioTimer};

    static POOR: StandardRetryStrategy = longest().quota_capacity(0);
    let refused = |remaining| {
        let token = POOR.acquire_initial_token(&TokioTimer).unwrap();
        let failure = Failure::of(&Failed::SAFE).with_remaining(Some(remaining));
        POOR.refresh_retry_token(token, &failure, &TokioTimer).unwrap_err()
    };
    assert_eq!(refused(millis(999)), RetryError::MaxTime);
    assert_eq!(refused(secs(1)), RetryError::QuotaExhausted, "a wait may end exactly at the limit, but not after it");
}

// Rules Q3, R8.
#[tokio::test(start_paused = true)]
async fn the_quota_is_charged_before_the_backoff() {
    static STRATEGY: StandardRetryStrategy = longest();
    let flaky = Flaky::new(1, Failed::TIMEOUT);
    let mut call = pin!(retry(&STRATEGY, || async { flaky.call() }).run());
    poll_once(call.as_mut());
    assert_eq!((flaky.calls(), STRATEGY.quota().available()), (1, 490));
    call.await.unwrap();
}

// Rules Q3, R9.
#[tokio::test(start_paused = true)]
async fn an_operation_whose_retry_is_refused_returns_at_once_and_costs_nothing() {
    static POOR: StandardRetryStrategy = longest().quota_capacity(4);
    let started = Instant::now();
    let flaky = Flaky::new(1, Failed::SAFE);
    let report = retry(&POOR, || async { flaky.call() }).report().await;
    assert_eq!(report.outcome, Err(Failed::SAFE));
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::QuotaExhausted)));
    assert_eq!((report.elapsed, started.elapsed()), (Duration::ZERO, Duration::ZERO));
    assert_eq!((flaky.calls(), POOR.quota().available()), (1, 4));
}

// Rule R10.
#[tokio::test(start_paused = true)]
async fn the_reason_of_the_strategy_is_reported_unchanged() {
    for reason in [RetryError::Refused, RetryError::MaxTime, RetryError::ForeignToken] {
        let refusing = Recorder::new().refusing_retries(reason);
        let report = retry(&refusing, || async { Flaky::new(1, Failed::SAFE).call() }).report().await;
        assert_eq!((report.attempts, report.reason), (1, Some(reason)));
    }
}

// Rules O8, R3.
#[tokio::test(start_paused = true)]
async fn a_granted_retry_is_made_after_its_backoff() {
    static STRATEGY: StandardRetryStrategy = longest();
    let flaky = Flaky::new(3, Failed::SAFE);
    let report = retry(&STRATEGY, || async { flaky.call() }).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (Ok(4), 4, None));
    assert_eq!(report.elapsed, secs(1 + 2 + 4));
}

// Rule R11.
#[tokio::test(start_paused = true)]
async fn the_first_attempt_is_made_with_an_empty_quota() {
    static EMPTY: StandardRetryStrategy = longest().quota_capacity(0);
    assert_eq!(retry(&EMPTY, || async { Flaky::new(0, Failed::SAFE).call() }).run().await, Ok(1));
}

// Rule R1.
#[tokio::test(start_paused = true)]
async fn max_attempts_includes_the_first_attempt() {
    static STRATEGY: StandardRetryStrategy = longest().max_attempts(5);
    let flaky = Flaky::new(u32::MAX, Failed::SAFE);
    let report = retry(&STRATEGY, || async { flaky.call() }).report().await;
    assert_eq!(flaky.calls(), 5);
    assert_eq!((report.attempts, report.reason), (5, Some(RetryError::MaxAttempts)));
    assert_eq!(report.elapsed, secs(1 + 2 + 4 + 8));
}

// Rule P4.
#[tokio::test(start_paused = true)]
async fn an_error_that_sets_only_its_fault_is_classified_by_it() {
    use retry_core::{ErrorFault, ErrorInfo, Failure, RetryInfo, RetryPolicy, RetrySafety, StandardRetryPolicy};

    struct Only(ErrorFault);
    impl ErrorInfo for Only {
        fn fault(&self) -> ErrorFault {
            self.0
        }
    }
    impl RetryInfo for Only {}

    let cases = [
        (ErrorFault::Client, RetrySafety::No, RetryDirective::fail(Some(RetryErrorType::ClientSide))),
        (ErrorFault::Server, RetrySafety::Maybe, RetryDirective::retry(RetryErrorType::ServerSide)),
        (ErrorFault::Other, RetrySafety::Maybe, RetryDirective::fail(Some(RetryErrorType::Other))),
    ];
    for (fault, safety, directive) in cases {
        assert_eq!(Only(fault).is_retry_safe(), safety);
        assert_eq!(StandardRetryPolicy::new().evaluate(&Err::<(), _>(Only(fault))), directive);
        assert_eq!(Failure::of(&Only(fault)), Failure::from_directive(directive));
    }
}

// Rule D1.
#[tokio::test(start_paused = true)]
async fn an_operation_dropped_while_it_waits_is_refunded() {
    #[retryable(strategy = strategy)]
    async fn call(strategy: &StandardRetryStrategy, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let strategy = longest();
    let flaky = Flaky::new(u32::MAX, Failed::TIMEOUT);
    {
        let mut by_attribute = pin!(call(&strategy, &flaky));
        let mut by_closure = pin!(retry(&strategy, || async { flaky.call() }).run());
        poll_once(by_attribute.as_mut());
        poll_once(by_closure.as_mut());
        assert_eq!(strategy.quota().available(), 480);
        // Each operation is in its second wait: the first retry was sent, and its cost is spent.
        tokio::time::advance(secs(1)).await;
        poll_once(by_attribute.as_mut());
        poll_once(by_closure.as_mut());
        assert_eq!((flaky.calls(), strategy.quota().available()), (4, 460));
    }
    assert_eq!(strategy.quota().available(), 480);
}

// Rule D2.
#[tokio::test(start_paused = true)]
async fn an_operation_dropped_during_a_retry_is_not_refunded() {
    let strategy = longest();
    let flaky = Flaky::new(1, Failed::SAFE);
    {
        let attempt = || async {
            flaky.call()?;
            std::future::pending::<Result<(), Failed>>().await
        };
        let mut call = pin!(retry(&strategy, attempt).run());
        poll_once(call.as_mut());
        tokio::time::advance(secs(1)).await;
        poll_once(call.as_mut());
        assert_eq!(flaky.calls(), 2);
    }
    assert_eq!(strategy.quota().available(), 495);
}

// Rule D4.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_never_polled_does_not_call_its_strategy() {
    let recorder = Recorder::new();
    drop(retry(&recorder, || async { Flaky::new(0, Failed::SAFE).call() }).run());
    assert!(recorder.calls().is_empty());
}

// Rule R15.
#[tokio::test(start_paused = true)]
async fn a_delay_of_zero_uses_no_timer() {
    use retry_core::time::Timestamp;
    use retry_core::{Clock, Timer};

    struct NoTimer;
    impl Clock for NoTimer {
        fn now(&self) -> Timestamp {
            panic!("the clock is not needed")
        }
    }
    impl Timer for NoTimer {
        type Sleep = std::future::Ready<()>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            panic!("a delay of zero needs no sleep")
        }
    }

    static NOW: StandardRetryStrategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0));
    let flaky = Flaky::new(2, Failed::SAFE);
    assert_eq!(retry(&NOW, || async { flaky.call() }).timer(NoTimer).run().await, Ok(3));
}

// Rule D5.
#[tokio::test(start_paused = true)]
async fn a_body_that_panics_leaves_the_strategy_usable() {
    static STRATEGY: StandardRetryStrategy = longest();

    #[retryable(strategy = STRATEGY)]
    async fn panics(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()?;
        panic!("a panic of the test")
    }

    // The first attempt fails, and the retry panics.
    let call = tokio::task::LocalSet::new();
    let joined = call
        .run_until(async { tokio::task::spawn_local(async { panics(&Flaky::new(1, Failed::SAFE)).await }).await })
        .await;
    assert!(joined.unwrap_err().is_panic());
    assert_eq!(STRATEGY.quota().available(), 495);
    let flaky = Flaky::new(1, Failed::SAFE);
    assert_eq!(retry(&STRATEGY, || async { flaky.call() }).run().await, Ok(2));
}

// Rule D7.
#[test]
fn without_a_runtime_tokio_panics_and_the_strategy_stays_usable() {
    static STRATEGY: StandardRetryStrategy = longest();

    #[retryable(strategy = STRATEGY)]
    async fn attribute(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    let closure = std::panic::catch_unwind(|| {
        let flaky = Flaky::new(1, Failed::SAFE);
        poll_once(pin!(retry(&STRATEGY, || async { flaky.call() }).run()));
    });
    let attribute = std::panic::catch_unwind(|| poll_once(pin!(attribute(&Flaky::new(1, Failed::SAFE)))));
    assert!(closure.is_err() && attribute.is_err(), "tokio's panic is passed on");
    assert_eq!(STRATEGY.quota().available(), 500, "retries that were not sent are refunded");
}

#[tokio::test(start_paused = true)]
async fn the_retry_of_a_closure_that_panics_counts_as_sent() {
    static STRATEGY: StandardRetryStrategy = longest();
    let calls = Cell::new(0);
    let local = tokio::task::LocalSet::new();
    let joined = local
        .run_until(async {
            let call = retry(&STRATEGY, move || {
                calls.set(calls.get() + 1);
                assert!(calls.get() < 2, "a panic of the test");
                async { Err::<(), _>(Failed::SAFE) }
            });
            tokio::task::spawn_local(call.run()).await
        })
        .await;
    assert!(joined.unwrap_err().is_panic());
    assert_eq!(STRATEGY.quota().available(), 495);
}

#[tokio::test(start_paused = true)]
async fn the_initial_token_is_released_when_an_operation_is_dropped_while_it_waits() {
    #[retryable(strategy = strategy)]
    async fn attribute(strategy: &Recorder) -> Result<(), Failed> {
        Ok(())
    }

    let slow = Recorder::new().waiting([secs(1)]);
    poll_once(pin!(attribute(&slow)));
    assert_eq!(slow.calls(), ["initial", "ready", "release"]);

    let slow = Recorder::new().waiting([secs(1)]);
    poll_once(pin!(retry(&slow, || async { Ok::<_, Failed>(()) }).run()));
    assert_eq!(slow.calls(), ["initial", "ready", "release"]);
}

// Rules M9, R3.
#[tokio::test(start_paused = true)]
async fn the_attribute_waits_and_asks_again_like_the_closure_form() {
    #[retryable(strategy = strategy)]
    async fn attribute(strategy: &Recorder, flaky: &Flaky, started: Instant) -> Result<Duration, Failed> {
        flaky.call().map(|_| started.elapsed())
    }

    let slow = Recorder::new().waiting([secs(3), Duration::ZERO, secs(2), secs(1)]);
    let sent = attribute(&slow, &Flaky::new(1, Failed::SAFE), Instant::now()).await;
    assert_eq!(sent, Ok(secs(6)));
    let asked = ["initial", "ready", "ready", "refresh", "ready", "ready", "ready", "success"];
    assert_eq!(slow.calls(), asked);
}

// Rule R10.
#[test]
fn every_reason_to_stop_has_a_name_and_a_message() {
    let words = [
        (RetryError::NotRetryable, "not_retryable", "the failure is not retryable"),
        (RetryError::MaxAttempts, "max_attempts", "all attempts were made"),
        (
            RetryError::RetryAfterTooLong,
            "retry_after_too_long",
            "the server asked for a longer wait than `max_retry_after` allows",
        ),
        (
            RetryError::MaxTime,
            "max_time",
            "`max_time`, `deadline` or `max_throttled_time` is over, or would be before the next attempt",
        ),
        (RetryError::Stopped, "stopped", "the operation was stopped"),
        (RetryError::QuotaExhausted, "quota_exhausted", "the retry quota can't pay for the retry"),
        (RetryError::ForeignToken, "foreign_token", "the token was issued by another strategy"),
        (RetryError::Refused, "refused", "the strategy refused"),
    ];
    for (reason, name, text) in words {
        assert_eq!((reason.as_str(), reason.to_string().as_str()), (name, text));
    }
    assert_eq!(ForeignToken.to_string(), "the token was issued by another strategy");
    assert_eq!(RetryError::from(ForeignToken), RetryError::ForeignToken);
}
