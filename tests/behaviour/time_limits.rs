//! `max_time` and `attempt_timeout`, in both forms: each case runs with the attribute and with a closure.

mod deadline;
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

/// What became of an operation.
struct Run {
    outcome: Result<u32, Error>,
    /// When its attempts began.
    begun: Vec<Duration>,
    elapsed: Duration,
    /// Only a closure's report tells.
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

/// Runs the same operation in both forms, each with a strategy of its own.
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
async fn an_attempt_that_is_cut_by_its_own_limit_is_an_outcome_that_the_policy_judges() {
    let attempts = [(secs(60), Ok(1)), (secs(60), Ok(2)), (secs(1), Ok(3))];
    both(standard, attempt_timeout(secs(2)), attempts, |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (Ok(3), secs(2 + 1 + 2 + 2 + 1)));
        assert_eq!(run.begun, [secs(0), secs(3), secs(7)]);
        assert_eq!(strategy.quota().available(), 500 - 10 - 10 + 1, "it costs what a timeout costs");
    })
    .await;
}

#[tokio::test(start_paused = true)]
async fn the_last_attempt_that_is_cut_tells_so() {
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
async fn an_outcome_that_is_there_when_the_time_is_up_counts() {
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
async fn a_later_attempt_that_is_cut_by_max_time_leaves_the_outcome_before_it() {
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
async fn a_cut_by_max_time_is_neither_judged_nor_learned_from() {
    both(Recorder::new, max_time(secs(7)), [(secs(60), Ok(1))], |strategy, _| {
        assert_eq!(strategy.calls(), ["initial", "ready"]);
    })
    .await;
}

// Rule T3.
#[tokio::test(start_paused = true)]
async fn an_ok_that_is_retried_until_the_limit_is_returned() {
    let limits = Limits { max_time: secs(10), attempt_timeout: secs(4) };
    both(standard, limits, [(secs(1), Ok(0))], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (Ok(0), secs(10)));
        assert_eq!(run.begun, [secs(0), secs(2), secs(5), secs(10)], "the third delay ends with the time");
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 485);
    })
    .await;
}

// Rule T4.
#[tokio::test(start_paused = true)]
async fn a_delay_that_does_not_fit_is_not_begun() {
    both(standard, max_time(millis(3999)), [(secs(1), SAFE)], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (SAFE, secs(1 + 1 + 1)));
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 495, "what is refused is not paid for");
    })
    .await;
}

// Rule T4.
#[tokio::test(start_paused = true)]
async fn a_delay_that_ends_with_the_time_leaves_an_attempt_that_is_polled_once() {
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
async fn the_time_of_an_attempt_is_cut_to_what_remains() {
    let limits = Limits { max_time: secs(8), attempt_timeout: secs(5) };
    both(standard, limits, [(secs(60), Ok(1))], |_, run| {
        assert_eq!(run.begun, [secs(0), secs(6)]);
        assert_eq!(run.elapsed, secs(8));
        assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Attempt, secs(5))), "the last outcome that there was");
        assert!(is_max_time(&run));
    })
    .await;

    let limits = Limits { max_time: secs(5), attempt_timeout: secs(5) };
    both(standard, limits, [(secs(60), Ok(1))], |strategy, run| {
        assert_eq!(time_was_up(&run.outcome), Some((TimeLimit::Operation, secs(5))), "no time is left for another");
        assert_eq!(strategy.quota().available(), 500);
    })
    .await;
}

// Rule T8.
#[tokio::test(start_paused = true)]
async fn a_strategy_that_ignores_the_limit_cannot_break_it() {
    // The first wait fits, the second does not; it is not begun, and the token goes back.
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
async fn the_strategy_is_told_what_remains() {
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
async fn an_attempt_that_was_cut_is_dropped_before_the_next_one_waits() {
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
    assert_eq!(drops.take(), [secs(1), secs(3)], "at 3 s a delay of 2 s would end too late");
    assert_eq!(started.elapsed(), secs(3));
}

// Rule T7.
#[tokio::test(start_paused = true)]
async fn no_time_at_all_is_one_poll() {
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
async fn a_hint_that_does_not_fit_ends_the_operation() {
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
async fn a_timed_out_attempt_of_an_operation_that_is_not_idempotent_is_not_repeated() {
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
async fn a_limited_operation_that_is_dropped_while_it_waits_gives_its_cost_back() {
    let strategy = standard();
    {
        let call = pin!(retry(&strategy, || async { SAFE }).max_time(secs(60)).run());
        poll_once(call);
        assert_eq!(strategy.quota().available(), 495);
    }
    assert_eq!(strategy.quota().available(), 500);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_ready_at_once_needs_no_time_to_pass_and_a_wait_of_zero_no_timer() {
    let recorder = Recorder::new().waiting([Duration::ZERO]);
    let started = Instant::now();
    assert_eq!(retry(&recorder, || async { Ok::<u32, Error>(1) }).max_time(secs(1)).run().await, Ok(1));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

// Rule T5.
#[test]
fn the_error_says_which_limit_it_was() {
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
async fn limits_of_a_closure_can_be_set_in_any_order_and_the_last_one_of_a_kind_counts() {
    let strategy = standard();
    macro_rules! cut {
        ($($limit:ident($seconds:literal)),+) => {{
            let script = Script::new([(secs(60), Ok(1))]);
            let report = retry(&strategy, || script.attempt()).policy(retry_core::policy_fn(judge))
                $(.$limit(secs($seconds)))+.report().await;
            (report.attempts, report.reason, script.begun.into_inner())
        }};
    }
    // Attempts of two seconds, delays of one and two: the third attempt is cut by the operation's limit.
    let expected = (3, Some(RetryError::MaxTime), vec![secs(0), secs(3), secs(7)]);
    assert_eq!(cut!(attempt_timeout(2), max_time(8)), expected);
    assert_eq!(cut!(max_time(8), attempt_timeout(2)), expected);
    assert_eq!(cut!(attempt_timeout(9), attempt_timeout(2), max_time(8)), expected);
    assert_eq!(cut!(max_time(8), attempt_timeout(9), attempt_timeout(2)), expected);
    assert_eq!(cut!(max_time(1), attempt_timeout(2), max_time(8)), expected);
}
