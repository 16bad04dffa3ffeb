//! `max_time` and `attempt_timeout`. Each case runs with the attribute and with a closure.

mod deadline;
mod once;
mod surroundings;

use crate::script::{Error, Limits, SAFE, Script, attempt_timeout, judge, max_time, time_was_up};
use crate::support::{Failed, Recorder, millis, poll_once, secs};
use retry_core::{
    Jitter, RetryError, RetryInfo, RetryQuota, RetrySafety, RetryStrategy, StandardRetryStrategy, TimeLimit, retry,
    retryable,
};
use std::cell::Cell;
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

/// The result of an operation.
struct Run {
    outcome: Result<u32, Error>,
    /// The start times of its attempts.
    begun: Vec<Duration>,
    elapsed: Duration,
    /// The reason to stop; known only from the report of a closure.
    reason: Option<RetryError>,
}

#[retryable(
    strategy = strategy,
    policy = retry_core::policy_fn(judge),
    max_time = limits.max_time,
    attempt_timeout = limits.attempt_timeout
)]
async fn attribute<S: RetryStrategy>(strategy: &S, limits: Limits, script: &Script) -> Result<u32, Error> {
    script.attempt().await
}

/// Runs the same operation in both forms, each with its own strategy.
async fn both<S: RetryStrategy>(
    strategy: impl Fn() -> S,
    limits: Limits,
    attempts: impl IntoIterator<Item = (Duration, Result<u32, Error>)> + Clone,
    check: impl Fn(&S, Run),
) {
    let (first, script) = (strategy(), Script::new(attempts.clone()));
    let outcome = attribute(&first, limits, &script).await;
    let elapsed = script.started.elapsed();
    check(&first, Run { outcome, begun: script.begun.into_inner(), elapsed, reason: None });

    let (second, script) = (strategy(), Script::new(attempts));
    let call = retry(&second, || script.attempt()).policy(retry_core::policy_fn(judge));
    let report = call.max_time(limits.max_time).attempt_timeout(limits.attempt_timeout).report().await;
    assert_eq!(report.elapsed, script.started.elapsed());
    assert_eq!(report.attempts as usize, script.begun.borrow().len());
    let reason = report.reason;
    check(&second, Run { outcome: report.outcome, begun: script.begun.into_inner(), elapsed: report.elapsed, reason });
}

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

fn is_max_time(run: &Run) -> bool {
    run.reason.is_none_or(|reason| reason == RetryError::MaxTime)
}

// Rule T5.
#[tokio::test(start_paused = true)]
async fn the_policy_evaluates_an_attempt_that_is_cut_by_its_own_limit() {
    let attempts = [(secs(60), Ok(1)), (secs(60), Ok(2)), (secs(1), Ok(3))];
    both(standard, attempt_timeout(secs(2)), attempts, |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (Ok(3), secs(2 + 1 + 2 + 2 + 1)));
        assert_eq!(run.begun, [secs(0), secs(3), secs(7)]);
        assert_eq!(strategy.quota().available(), 500 - 10 - 10 + 1, "a cut attempt costs as much as a timeout");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_cut_last_attempt_is_a_timeout() {
    both(
        || standard().max_attempts(2),
        attempt_timeout(secs(2)),
        [(secs(60), Ok(1))],
        |_, run| {
            assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Attempt, secs(2))));
            assert_eq!((run.begun.len(), run.elapsed), (2, secs(2 + 1 + 2)));
            assert!(run.reason.is_none_or(|reason| reason == RetryError::MaxAttempts));
        },
    )
    .await;
}

// Rule T7.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_ready_at_the_limit_counts() {
    both(standard, attempt_timeout(secs(2)), [(secs(2), Ok(1))], |_, run| assert_eq!(run.outcome, Ok(1))).await;
    both(standard, max_time(secs(2)), [(secs(2), Ok(1))], |_, run| assert_eq!(run.outcome, Ok(1))).await;
}

// Rules T1, T3.
#[tokio::test(start_paused = true)]
async fn a_first_attempt_that_is_cut_by_max_time_ends_the_operation() {
    both(standard, max_time(secs(7)), [(secs(60), Ok(1))], |strategy, run| {
        assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Operation, secs(7))));
        assert_eq!((run.begun.len(), run.elapsed), (1, secs(7)));
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 500);
    })
    .await;
}

// Rules T2, T3.
#[tokio::test(start_paused = true)]
async fn the_previous_outcome_is_returned_when_max_time_cuts_a_later_attempt() {
    both(standard, max_time(secs(7)), [(secs(1), SAFE), (secs(60), Ok(1))], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (SAFE, secs(7)));
        assert_eq!(run.begun, [secs(0), secs(2)]);
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 495, "the attempt was sent, so its cost is spent");
    })
    .await;
}

// Rule T2.
#[tokio::test(start_paused = true)]
async fn an_attempt_cut_by_max_time_is_neither_evaluated_nor_reported_to_the_strategy() {
    both(Recorder::new, max_time(secs(7)), [(secs(60), Ok(1))], |strategy, _| {
        assert_eq!(strategy.calls(), ["initial", "ready"]);
    })
    .await;
}

// Rule T3.
#[tokio::test(start_paused = true)]
async fn a_value_that_is_retried_until_the_limit_is_returned() {
    let limits = Limits { max_time: secs(10), attempt_timeout: secs(4) };
    both(standard, limits, [(secs(1), Ok(0))], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (Ok(0), secs(10)));
        assert_eq!(run.begun, [secs(0), secs(2), secs(5), secs(10)], "the third delay ends exactly at the limit");
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 485);
    })
    .await;
}

// Rule T4.
#[tokio::test(start_paused = true)]
async fn a_delay_that_would_end_after_max_time_is_not_started() {
    both(standard, max_time(millis(3999)), [(secs(1), SAFE)], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (SAFE, secs(1 + 1 + 1)));
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 495, "a refused retry is free");
    })
    .await;
}

// Rule T4.
#[tokio::test(start_paused = true)]
async fn an_attempt_after_a_delay_that_ends_at_the_limit_is_polled_once() {
    for (outcome, time) in [(Ok(1), secs(0)), (SAFE, millis(1))] {
        both(standard, max_time(secs(5)), [(secs(1), SAFE), (secs(1), SAFE), (time, Ok(1))], |_, run| {
            assert_eq!((run.begun, run.outcome), (vec![secs(0), secs(2), secs(5)], outcome));
            assert_eq!(run.elapsed, secs(5));
        })
        .await;
    }

    let (strategy, attempts) = (standard(), Cell::new(0));
    let call = retry(&strategy, || async {
        attempts.set(attempts.get() + 1);
        if attempts.get() == 2 { Ok(2) } else { SAFE }
    });
    let report = call.max_time(secs(1)).report().await;
    assert_eq!((report.outcome, report.elapsed), (Ok(2), secs(1)));
}

// Rule T6.
#[tokio::test(start_paused = true)]
async fn the_timeout_of_an_attempt_is_limited_to_the_remaining_time() {
    let limits = Limits { max_time: secs(8), attempt_timeout: secs(5) };
    both(standard, limits, [(secs(60), Ok(1))], |_, run| {
        assert_eq!(run.begun, [secs(0), secs(6)]);
        assert_eq!(run.elapsed, secs(8));
        assert_eq!(
            time_was_up(&run.outcome),
            Some((TimeLimit::Attempt, secs(5))),
            "the outcome of the first attempt is returned"
        );
        assert!(is_max_time(&run));
    })
    .await;

    let limits = Limits { max_time: secs(5), attempt_timeout: secs(5) };
    both(standard, limits, [(secs(60), Ok(1))], |strategy, run| {
        assert_eq!(
            time_was_up(&run.outcome),
            Some((TimeLimit::Operation, secs(5))),
            "no time is left for another attempt"
        );
        assert_eq!(strategy.quota().available(), 500);
    })
    .await;
}

// Rule T8.
#[tokio::test(start_paused = true)]
async fn max_time_is_kept_although_the_strategy_ignores_it() {
    // The first wait fits. The second one does not, so it is not started and the token is released.
    both(
        || Recorder::new().waiting([secs(3), secs(8)]),
        max_time(secs(10)),
        [(secs(1), SAFE)],
        |strategy, run| {
            assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Operation, secs(10))));
            assert_eq!((run.begun.len(), run.elapsed), (0, secs(3)));
            assert!(is_max_time(&run));
            assert_eq!(strategy.calls(), ["initial", "ready", "ready", "release"]);
        },
    )
    .await;
}

// Rule T9.
#[tokio::test(start_paused = true)]
async fn the_strategy_gets_the_remaining_time() {
    both(
        || Recorder::new().refusing_retries(RetryError::MaxAttempts),
        max_time(secs(10)),
        [(secs(3), SAFE)],
        |it, _| {
            assert_eq!(it.last_failure().and_then(|failure| failure.remaining()), Some(secs(7)));
        },
    )
    .await;
    let untimed = Recorder::new().refusing_retries(RetryError::MaxAttempts);
    let call = retry(&untimed, || async { SAFE }).attempt_timeout(secs(1));
    assert_eq!(call.run().await, SAFE);
    assert_eq!(untimed.last_failure().unwrap().remaining(), None);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_was_cut_is_dropped_before_the_next_delay() {
    struct Dropped<'a>(&'a Cell<Vec<Duration>>, Instant);
    impl Drop for Dropped<'_> {
        fn drop(&mut self) {
            let mut times = self.0.take();
            times.push(self.1.elapsed());
            self.0.set(times);
        }
    }

    #[retryable(strategy = strategy, max_time = "4s", attempt_timeout = "1s")]
    async fn call(
        strategy: &StandardRetryStrategy,
        drops: &Cell<Vec<Duration>>,
        started: Instant,
    ) -> Result<u32, Error> {
        let _dropped = Dropped(drops, started);
        std::future::pending().await
    }

    let (strategy, drops, started) = (standard(), Cell::default(), Instant::now());
    let outcome = call(&strategy, &drops, started).await;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Attempt, secs(1))));
    assert_eq!(drops.take(), [secs(1), secs(3)], "at 3 s, a delay of 2 s would end after the limit of 4 s");
    assert_eq!(started.elapsed(), secs(3));
}

// Rule T7.
#[tokio::test(start_paused = true)]
async fn a_limit_of_zero_allows_one_poll() {
    both(standard, max_time(Duration::ZERO), [(secs(1), Ok(1))], |_, run| {
        assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Operation, Duration::ZERO)));
        assert_eq!((run.begun.len(), run.elapsed), (1, Duration::ZERO));
    })
    .await;
    let report = retry(&standard(), || async { Ok::<u32, Error>(1) }).max_time(Duration::ZERO).report().await;
    assert_eq!(report.outcome, Ok(1));
}

// Rules R7, T4.
#[tokio::test(start_paused = true)]
async fn a_hint_that_exceeds_the_remaining_time_ends_the_operation() {
    let hint = Err(Error::Failed(Failed::THROTTLED.after(secs(20))));
    both(standard, max_time(secs(20)), [(secs(1), hint)], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (hint, secs(1)));
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 500);
    })
    .await;
    let endless = Err(Error::Failed(Failed::THROTTLED.after(Duration::MAX)));
    both(
        || standard().max_retry_after(None),
        max_time(secs(20)),
        [(secs(1), endless)],
        |_, run| {
            assert_eq!((run.outcome, run.elapsed), (endless, secs(1)));
            assert!(is_max_time(&run));
        },
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_refused_initial_token_leaves_one_attempt_within_the_limits() {
    let refusing = || Recorder::new().refusing_initial_token(RetryError::Refused);
    both(refusing, max_time(secs(7)), [(secs(60), Ok(1))], |strategy, run| {
        assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Operation, secs(7))));
        assert!(is_max_time(&run));
        assert_eq!(strategy.calls(), ["initial"]);
    })
    .await;
    both(refusing, attempt_timeout(secs(7)), [(secs(60), Ok(1))], |_, run| {
        assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Attempt, secs(7))));
        assert!(run.reason.is_none_or(|reason| reason == RetryError::Refused));
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_attempt_is_not_retried_if_the_operation_is_not_idempotent() {
    #[retryable(strategy = "standard", idempotent = false, attempt_timeout = "2s")]
    async fn transfer(sent: &Cell<u32>) -> Result<u32, Error> {
        sent.set(sent.get() + 1);
        std::future::pending().await
    }

    let sent = Cell::new(0);
    assert_eq!(time_was_up(&transfer(&sent).await), Some((TimeLimit::Attempt, secs(2))));
    assert_eq!(sent.get(), 1);
}

// Rule D1.
#[tokio::test(start_paused = true)]
async fn a_limited_operation_that_is_dropped_while_it_waits_is_refunded() {
    let strategy = standard();
    {
        let call = pin!(retry(&strategy, || async { SAFE }).max_time(secs(60)).run());
        poll_once(call);
        assert_eq!(strategy.quota().available(), 495);
    }
    assert_eq!(strategy.quota().available(), 500);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_ready_at_once_takes_no_time_after_a_wait_of_zero() {
    let recorder = Recorder::new().waiting([Duration::ZERO]);
    let started = Instant::now();
    assert_eq!(retry(&recorder, || async { Ok::<u32, Error>(1) }).max_time(secs(1)).run().await, Ok(1));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

// Rule T5.
#[test]
fn the_error_names_the_limit() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let text = |outcome: Result<u32, Error>| match outcome {
        Err(Error::TimedOut(error)) => {
            assert!(error.is_timeout() && !error.is_throttle());
            assert_eq!(error.is_retry_safe(), RetrySafety::Maybe);
            error.to_string()
        }
        _ => String::new(),
    };
    let strategy = standard().max_attempts(1);
    let pending = || std::future::pending::<Result<u32, Error>>();
    assert_eq!(
        text(runtime.block_on(async { retry(&strategy, pending).attempt_timeout(millis(1500)).run().await })),
        "the attempt had no outcome within 1.5s (`attempt_timeout`)"
    );
    assert_eq!(
        text(runtime.block_on(async { retry(&strategy, pending).max_time(secs(30)).run().await })),
        "the operation had no outcome within 30s (`max_time`)"
    );
}

// Rule T12.
#[tokio::test(start_paused = true)]
async fn limits_of_a_closure_can_be_set_in_any_order_and_the_last_one_of_each_kind_counts() {
    let strategy = standard();
    macro_rules! cut {
        ($($limit:ident($seconds:literal)),+) => {{
            let script = Script::new([(secs(60), Ok(1))]);
            let report = retry(&strategy, || script.attempt()).policy(retry_core::policy_fn(judge))
                $(.$limit(secs($seconds)))+.report().await;
            (report.attempts, report.reason, script.begun.into_inner())
        }};
    }
    // Attempts of two seconds, delays of one and two seconds: `max_time` cuts the third attempt.
    let expected = (3, Some(RetryError::MaxTime), vec![secs(0), secs(3), secs(7)]);
    assert_eq!(cut!(attempt_timeout(2), max_time(8)), expected);
    assert_eq!(cut!(max_time(8), attempt_timeout(2)), expected);
    assert_eq!(cut!(attempt_timeout(9), attempt_timeout(2), max_time(8)), expected);
    assert_eq!(cut!(max_time(8), attempt_timeout(9), attempt_timeout(2)), expected);
    assert_eq!(cut!(max_time(1), attempt_timeout(2), max_time(8)), expected);
}
