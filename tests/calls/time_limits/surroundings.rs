//! Time limits together with limiters, timers, observers, runtimes and threads.

use super::standard;
use crate::script::{Error, SAFE, time_was_up};
use crate::support::timers::{Sluggish, run, since_start};
use crate::support::{Failed, Recorder, assert_send, kept, millis, poll_once, secs};
use retry_core::time::{ManualTimer, Timestamp};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErrorInfo, Event, Failure, Hedge, Observer, RetryError, RetryInfo, RetryQuota,
    RetrySafety, RetryStrategy, StandardRetryStrategy, Success, TimeLimit, Timer, TokioTimer, retry, retryable,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};

const BACKOFF: Duration = millis(10);

/// Returns an adaptive strategy that was throttled and limits sends, without capacity.
async fn limiting() -> AdaptiveRetryStrategy {
    let strategy = AdaptiveRetryStrategy::over(standard().backoff(BACKOFF, secs(1)));
    let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    let throttled = Failure::of(&Failed::THROTTLED);
    let _ = strategy.refresh_retry_token(token, &throttled, &TokioTimer).map(|token| strategy.release(token));
    // At the minimum rate, one send becomes available in two seconds. It is used up here.
    advance(secs(2)).await;
    let mut token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    while let Some(wait) = strategy.ready(&mut token, &TokioTimer, None).wait() {
        sleep(wait).await;
    }
    strategy.record_success(token, &Success::default(), &TokioTimer).unwrap();
    strategy
}

#[tokio::test(start_paused = true)]
async fn no_attempt_is_made_after_a_sleep_that_lasted_past_max_time() {
    let (strategy, calls) = (standard(), Cell::new(0));
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        std::future::ready(SAFE)
    });
    let report = call.timer(Sluggish).max_time(millis(1500)).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
    assert_eq!(calls.get(), 1, "the closure is not called for an attempt that is not made");
    assert_eq!(strategy.quota().available(), 500, "a retry that was paid for and not sent is refunded");
}

// Rule T10.
#[tokio::test(start_paused = true)]
async fn an_operation_ends_without_an_attempt_if_its_send_would_come_after_max_time() {
    let strategy = limiting().await;
    let quota = strategy.standard().quota().available();
    let report = retry(&strategy, || async { Ok::<u32, Error>(1) }).max_time(millis(250)).report().await;
    assert_eq!((report.attempts, report.reason), (0, Some(RetryError::MaxTime)));
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Operation, millis(250))));
    assert!(report.elapsed <= millis(250), "{:?}", report.elapsed);
    assert_eq!(strategy.standard().quota().available(), quota);
    // Neither does a hedge that was allowed.
    let hedge = kept(Hedge::after(millis(1)));
    let hedged = retry(&strategy, || async { Ok::<u32, Error>(1) })
        .max_time(millis(250))
        .idempotent(true)
        .hedge(hedge)
        .report()
        .await;
    assert_eq!((hedged.attempts, hedged.reason), (0, Some(RetryError::MaxTime)));
}

// Rule T10.
#[tokio::test(start_paused = true)]
async fn a_retry_is_refunded_if_its_send_would_come_after_max_time() {
    let strategy = limiting().await;
    let quota = strategy.standard().quota().available();
    let interval = Duration::from_secs_f64(strategy.send_rate().unwrap().recip());
    // The first send is granted after an interval. The backoff ends soon after it, and the next send would be too late.
    let max_time = interval + BACKOFF * 2;
    let report = retry(&strategy, || async { SAFE }).max_time(max_time).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
    assert!(report.elapsed > interval + BACKOFF && report.elapsed <= max_time, "{:?}", report.elapsed);
    assert_eq!(strategy.standard().quota().available(), quota, "a retry that was paid for and not sent is refunded");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_exhausts_its_task_budget_is_still_cut() {
    let busy = || async {
        loop {
            advance(millis(100)).await;
            // More than the budget that tokio gives a task before it must yield.
            for _ in 0..1000 {
                tokio::task::coop::consume_budget().await;
            }
        }
    };
    let report = retry(&standard().max_attempts(1), busy).attempt_timeout(secs(1)).report().await;
    let outcome: Result<u32, Error> = report.outcome;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Attempt, secs(1))));
    assert!(report.elapsed < millis(1300), "{:?}", report.elapsed);
}

// Rule K2.
#[test]
fn a_clock_that_goes_backwards_does_not_extend_max_time() {
    let timer = ManualTimer::new();
    let recorder = Recorder::new().refusing_retries(RetryError::MaxAttempts);
    let call = retry(&recorder, || async {
        timer.set(Timestamp::START.saturating_sub(secs(80)));
        SAFE
    });
    let report = run(&timer, call.timer(&timer).max_time(secs(10)).report());
    assert_eq!(report.outcome, SAFE);
    assert_eq!(recorder.last_failure().unwrap().remaining(), Some(secs(10)), "no time has passed");
}

// Rule T1.
#[test]
fn a_body_that_blocks_its_thread_past_the_limit_keeps_its_outcome() {
    let (timer, strategy) = (ManualTimer::new(), standard());
    let call = retry(&strategy, || async {
        timer.advance(secs(60));
        SAFE
    });
    let report = run(&timer, call.timer(&timer).max_time(secs(5)).report());
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
}

// Rule T12.
#[tokio::test(start_paused = true)]
async fn limits_may_be_expressions_over_fields_and_are_evaluated_once_per_call() {
    struct Client {
        retry: StandardRetryStrategy,
        timer: TokioTimer,
        limit: Duration,
        sent: u32,
    }

    impl Client {
        fn limit(&self, readings: &Cell<u32>) -> Duration {
            readings.set(readings.get() + 1);
            self.limit
        }

        #[retryable(strategy = self.retry, timer = self.timer, attempt_timeout = self.limit(readings))]
        async fn with_timeout(&mut self, readings: &Cell<u32>) -> Result<u32, Error> {
            self.sent += 1;
            sleep(secs(3)).await;
            Ok(self.sent)
        }

        #[retryable(strategy = self.retry, timer = self.timer, max_time = self.limit(readings))]
        async fn with_max_time(&mut self, readings: &Cell<u32>) -> Result<u32, Error> {
            self.sent += 1;
            if self.sent < 4 { SAFE } else { Ok(self.sent) }
        }
    }

    let readings = Cell::new(0);
    let mut client = Client { retry: standard().max_attempts(2), timer: TokioTimer, limit: secs(1), sent: 0 };
    assert_eq!(time_was_up(&client.with_timeout(&readings).await), Some((TimeLimit::Attempt, secs(1))));
    assert_eq!((client.sent, readings.take()), (2, 1));
    client.limit = secs(10);
    assert_eq!(client.with_max_time(&readings).await, Ok(4));
    assert_eq!(readings.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_not_send_leaves_the_future_send_unless_it_is_kept() {
    #[derive(Debug)]
    struct Local(#[expect(dead_code, reason = "it makes the error not Send")] Rc<()>);
    impl ErrorInfo for Local {}
    impl RetryInfo for Local {
        fn is_retry_safe(&self) -> RetrySafety {
            RetrySafety::Yes
        }
    }

    #[retryable(strategy = "standard")]
    async fn call() -> Result<(), Local> {
        sleep(secs(2)).await;
        Err(Local(Rc::new(())))
    }

    assert!(assert_send(call()).await.is_err());
    let strategy = standard().max_attempts(2);
    assert!(assert_send(retry(&strategy, call).run()).await.is_err());
}

// Rule D6.
#[tokio::test(start_paused = true)]
async fn a_timer_that_panics_leaves_the_quota_unchanged() {
    /// A timer that panics after this number of sleeps.
    struct Touchy(Cell<u32>);
    impl Clock for Touchy {
        fn now(&self) -> Timestamp {
            TokioTimer.now()
        }
    }
    impl Timer for Touchy {
        type Sleep = std::future::Ready<()>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            self.0.set(self.0.get().checked_sub(1).expect("a panic of the test"));
            std::future::ready(())
        }
    }

    // The sleeps: the timeout of the first attempt, the backoff, and the timeout of the second attempt.
    for (sleeps, sent) in [(0, 0), (1, 1), (2, 1)] {
        let (strategy, calls) = (standard(), Cell::new(0));
        let call = retry(&strategy, || {
            calls.set(calls.get() + 1);
            std::future::ready(SAFE)
        });
        let call = AssertUnwindSafe(call.timer(Touchy(Cell::new(sleeps))).attempt_timeout(secs(7)).run());
        assert!(catch_unwind(move || poll_once(pin!({ call }.0))).is_err());
        assert_eq!((calls.get(), strategy.quota().available()), (sent, 500), "a retry that was not sent is refunded");
    }
}

#[test]
fn the_time_that_an_observer_takes_counts() {
    struct Slow(ManualTimer);
    impl Observer for Slow {
        fn observe(&self, _: &Event) {
            self.0.advance(secs(2));
        }
    }

    let (timer, strategy) = (ManualTimer::new(), standard());
    let call = retry(&strategy, std::future::pending::<Result<u32, Error>>);
    let call = call.observer(Slow(timer.clone())).timer(&timer).max_time(secs(3));
    let mut call = pin!(call.run());
    poll_once(call.as_mut());
    assert_eq!(since_start(&timer), secs(2), "the attempt has begun");
    assert!(run(&timer, call).is_err());
    assert_eq!(
        since_start(&timer),
        secs(3 + 2),
        "the observer takes two of the three seconds, and two more for the last event"
    );
}

// Rules T1, T6.
#[tokio::test(start_paused = true)]
async fn the_time_of_the_first_poll_of_an_attempt_counts() {
    #[retryable(strategy = "standard", max_time = "5s")]
    async fn bounded() -> Result<u32, Error> {
        advance(secs(4)).await;
        std::future::pending().await
    }

    let (strategy, began) = (standard().max_attempts(1), Instant::now());
    // The clock advances while the attempt is polled for the first time.
    let slow = async || {
        advance(secs(4)).await;
        std::future::pending::<Result<u32, Error>>().await
    };
    assert_eq!(
        time_was_up(&retry(&strategy, slow).max_time(secs(5)).run().await),
        Some((TimeLimit::Operation, secs(5)))
    );
    assert_eq!(began.elapsed().as_secs(), 5);
    let limited = retry(&strategy, slow).attempt_timeout(secs(5)).max_time(secs(30)).run().await;
    assert_eq!(time_was_up(&limited), Some((TimeLimit::Attempt, secs(5))));
    assert_eq!(began.elapsed().as_secs(), 5 + 5);
    assert!(bounded().await.is_err());
    assert_eq!(began.elapsed().as_secs(), 5 + 5 + 5);
}

#[tokio::test(start_paused = true)]
async fn a_sleep_of_tokio_counts_from_its_creation() {
    let began = Instant::now();
    let sleep = TokioTimer.sleep(secs(10));
    advance(secs(7)).await;
    sleep.await;
    assert_eq!(began.elapsed().as_secs(), 10);
    let mut endless = pin!(TokioTimer.sleep(Duration::MAX));
    poll_once(endless.as_mut());
}
