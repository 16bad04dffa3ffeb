//! The closure form, without macros.

mod forms;
mod on_retry;

use crate::support::timers::{Noted, run};
use crate::support::{Failed, Flaky, assert_send, millis, secs};
use retry_core::strategy::RetryCosts;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, Jitter, PatientRetryStrategy, RetryError, RetryErrorType, RetryInfo, RetryQuota, StandardRetryStrategy,
    Timer, retry,
};
use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(100_000);

#[tokio::test(start_paused = true)]
async fn a_closure_may_change_what_it_captures() {
    let mut keys = vec!["a", "b", "c"];
    let outcome = retry(&STRATEGY, || {
        let key = keys.pop();
        async move { if key == Some("a") { Ok(key) } else { Err(Failed::SAFE) } }
    });
    assert_eq!(outcome.run().await, Ok(Some("a")));
    assert!(keys.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_can_be_spawned_if_its_attempts_are_send() {
    let shared = Arc::new(StandardRetryStrategy::new());
    let task = tokio::spawn(assert_send(async move {
        let text = "captured".to_owned();
        retry(shared, || async { Ok::<_, Failed>(text.len()) }).run().await
    }));
    assert_eq!(task.await.unwrap(), Ok(8));
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_not_send_leaves_the_call_send() {
    let call = retry(&STRATEGY, || async { Err::<(), _>(Rc::new(Failed::SAFE)) }).when(|_| false);
    assert!(assert_send(call.run()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_closure_decides_which_foreign_errors_are_retried() {
    let calls = Cell::new(0);
    let connect = || async {
        calls.set(calls.get() + 1);
        Err::<(), _>(io::Error::from(if calls.get() < 3 { ErrorKind::ConnectionRefused } else { ErrorKind::NotFound }))
    };
    let report = retry(&STRATEGY, connect).when(|error| error.kind() == ErrorKind::ConnectionRefused).report().await;
    assert_eq!(report.outcome.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!((report.attempts, report.reason), (3, Some(RetryError::NotRetryable)));
    assert_eq!(report.elapsed, secs(1 + 2));
}

#[tokio::test(start_paused = true)]
async fn a_closure_returns_the_hint_of_a_foreign_error() {
    struct Busy(Option<Duration>);

    let calls = Cell::new(0);
    let send = || async {
        calls.set(calls.get() + 1);
        match calls.get() {
            1 => Err(Busy(Some(secs(17)))),
            2 => Err(Busy(None)),
            _ => Ok(()),
        }
    };
    let report = retry(&STRATEGY, send).when(|_| true).retry_after(|error: &Busy| error.0).report().await;
    assert!(report.outcome.is_ok());
    assert_eq!(report.elapsed, secs(17 + 2), "the hint is a minimum, and without one the backoff applies");
}

// Rule P2.
#[tokio::test(start_paused = true)]
async fn idempotence_is_set_by_a_method_of_the_call() {
    let maybe = Failed { safety: retry_core::RetrySafety::Maybe, ..Failed::SAFE };
    let attempts = |idempotent: Option<bool>| async move {
        let flaky = Flaky::new(1, maybe);
        let call = retry(&STRATEGY, || async { flaky.call() });
        let _ = match idempotent {
            Some(idempotent) => call.idempotent(idempotent).run().await,
            None => call.run().await,
        };
        flaky.calls()
    };
    assert_eq!([attempts(Some(true)).await, attempts(Some(false)).await, attempts(None).await], [2, 1, 1]);
}

// Rule K5.
#[test]
fn a_custom_timer_needs_no_runtime() {
    let (time, flaky) = (Noted::default(), Flaky::new(3, Failed::SAFE.after(millis(2500))));
    let report = run(&time.timer, retry(&STRATEGY, || async { flaky.call() }).timer(&time).report());
    assert_eq!((report.outcome, report.attempts, report.elapsed), (Ok(4), 4, millis(2500 + 2500 + 4000)));
    assert_eq!(time.asked(), [millis(2500), millis(2500), secs(4)].map(|delay| ("sleep", delay)));
}

// Rule K2.
#[tokio::test(start_paused = true)]
async fn the_elapsed_time_is_zero_if_the_clock_went_backwards() {
    struct Backwards(Cell<u64>);
    impl Clock for Backwards {
        fn now(&self) -> Timestamp {
            self.0.set(self.0.get() - 1);
            Timestamp::from_origin(secs(self.0.get()))
        }
    }
    impl Timer for Backwards {
        type Sleep = std::future::Ready<()>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            std::future::ready(())
        }
    }

    let report = retry(&STRATEGY, || async { Ok::<_, Failed>(()) }).timer(Backwards(Cell::new(9))).report().await;
    assert_eq!(report.elapsed, Duration::ZERO);
}

// Rule P5.
#[tokio::test(start_paused = true)]
async fn a_foreign_error_costs_as_much_as_an_unclassified_error() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(0.0)).max_attempts(2);
    let _ = retry(&strategy, || async { Err::<(), _>("a foreign error") }).when(|_| true).run().await;
    assert_eq!(strategy.quota().available(), 495);
    assert_eq!(RetryErrorType::Other.to_string(), "other");
}

/// An error that counts.
#[derive(Debug, RetryInfo)]
struct Counted {
    #[retry(transparent)]
    failed: Failed,
    _count: Rc<()>,
}

// Rule U18.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_was_kept_for_a_wait_is_dropped_at_the_latest_when_the_next_attempt_has_failed() {
    // It pays for one retry of a timeout, and all other retries wait.
    let standard = StandardRetryStrategy::new().retry_costs(RetryCosts::new(2).timeout(1)).quota_capacity(1);
    let strategy = PatientRetryStrategy::over(standard);
    let (count, attempt) = (Rc::new(()), Cell::new(0));
    let outcome = retry(&strategy, async || {
        attempt.set(attempt.get() + 1);
        match attempt.get() {
            1 => Err(Counted { failed: Failed::SAFE, _count: Rc::clone(&count) }),
            2 => Err(Counted { failed: Failed::TIMEOUT, _count: Rc::clone(&count) }),
            _ => Ok(Rc::strong_count(&count)),
        }
    });
    assert_eq!(outcome.idempotent(true).run().await.unwrap(), 1);
}
