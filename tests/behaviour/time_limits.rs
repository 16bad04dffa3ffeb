//! `max_time` and `attempt_timeout`, in both forms: each case runs with the attribute and with a closure.

use crate::script::{Error, Limits, SAFE, Script, attempt_timeout, judge, max_time, time_was_up};
use crate::support::{Failed, Recorder, assert_send, millis, poll_once, secs};
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErrorInfo, Event, Failure, Jitter, Observer, RetryError, RetryInfo, RetryQuota,
    RetrySafety, RetryStrategy, StandardRetryStrategy, TimeLimit, TimedOut, Timer, Timestamp, TokioTimer, retry,
    retryable,
};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};

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

#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_there_when_the_time_is_up_counts() {
    both(standard, attempt_timeout(secs(2)), [(secs(2), Ok(1))], |_, run| assert_eq!(run.outcome, Ok(1))).await;
    both(standard, max_time(secs(2)), [(secs(2), Ok(1))], |_, run| assert_eq!(run.outcome, Ok(1))).await;
}

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

#[tokio::test(start_paused = true)]
async fn a_cut_by_max_time_is_neither_judged_nor_learned_from() {
    both(Recorder::new, max_time(secs(7)), [(secs(60), Ok(1))], |strategy, _| {
        assert_eq!(strategy.calls(), ["initial", "ready"]);
    })
    .await;
}

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

#[tokio::test(start_paused = true)]
async fn a_delay_that_does_not_fit_is_not_begun() {
    both(standard, max_time(millis(3999)), [(secs(1), SAFE)], |strategy, run| {
        assert_eq!((run.outcome, run.elapsed), (SAFE, secs(1 + 1 + 1)));
        assert!(is_max_time(&run));
        assert_eq!(strategy.quota().available(), 495, "what is refused is not paid for");
    })
    .await;
}

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

#[tokio::test(start_paused = true)]
async fn a_wait_that_lasted_too_long_is_no_reason_to_attempt() {
    /// Oversleeps by a second.
    struct Sluggish;
    impl Clock for Sluggish {
        fn now(&self) -> Timestamp {
            TokioTimer.now()
        }
    }
    impl Timer for Sluggish {
        type Sleep = tokio::time::Sleep;

        fn sleep(&self, delay: Duration) -> Self::Sleep {
            sleep(delay + secs(1))
        }
    }

    let (strategy, calls) = (standard(), Cell::new(0));
    let call = retry(&strategy, || {
        calls.set(calls.get() + 1);
        std::future::ready(SAFE)
    });
    let report = call.timer(Sluggish).max_time(millis(1500)).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
    assert_eq!(calls.get(), 1, "the closure is not called for an attempt that is not made");
    assert_eq!(strategy.quota().available(), 500, "the retry was paid for and never sent");
}

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

const BACKOFF: Duration = millis(10);

/// An adaptive strategy that has been throttled, so that sends are limited.
async fn limiting() -> AdaptiveRetryStrategy {
    let strategy = AdaptiveRetryStrategy::over(standard().backoff(BACKOFF, secs(1)));
    let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    let throttled = Failure::of(&Failed::THROTTLED);
    let _ = strategy.refresh_retry_token(token, &throttled, &TokioTimer).map(|token| strategy.release(token));
    // The least rate there is: a send in two seconds, of which one is there at the start.
    advance(secs(2)).await;
    let mut token = strategy.acquire_initial_token(&TokioTimer).unwrap();
    while let Some(wait) = strategy.ready(&mut token, &TokioTimer).wait() {
        sleep(wait).await;
    }
    strategy.record_success(token, &TokioTimer).unwrap();
    strategy
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_would_come_too_late_ends_the_operation_before_its_first_attempt() {
    let strategy = limiting().await;
    let quota = strategy.standard().quota().available();
    let report = retry(&strategy, || async { Ok::<u32, Error>(1) }).max_time(millis(250)).report().await;
    assert_eq!((report.attempts, report.reason), (0, Some(RetryError::MaxTime)));
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Operation, millis(250))));
    assert!(report.elapsed <= millis(250), "{:?}", report.elapsed);
    assert_eq!(strategy.standard().quota().available(), quota);
}

#[tokio::test(start_paused = true)]
async fn a_permission_that_would_come_too_late_refunds_the_retry() {
    let strategy = limiting().await;
    let quota = strategy.standard().quota().available();
    let interval = Duration::from_secs_f64(strategy.send_rate().unwrap().recip());
    // The first send comes after an interval, the backoff ends soon after that, and the next send would come too late.
    let max_time = interval + BACKOFF * 2;
    let report = retry(&strategy, || async { SAFE }).max_time(max_time).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
    assert!(report.elapsed > interval + BACKOFF && report.elapsed <= max_time, "{:?}", report.elapsed);
    assert_eq!(strategy.standard().quota().available(), quota, "the retry was paid for, and never sent");
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_never_yields_to_the_runtime_is_cut_all_the_same() {
    let busy = || async {
        loop {
            advance(millis(100)).await;
            // More than a task may do before it is made to yield.
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

#[tokio::test(start_paused = true)]
async fn a_clock_that_goes_backwards_gives_no_time_back() {
    /// The attempts set it.
    #[derive(Default)]
    struct ByAttempts(Cell<Duration>);
    impl Clock for ByAttempts {
        fn now(&self) -> Timestamp {
            Timestamp::from_origin(self.0.get())
        }
    }
    impl Timer for ByAttempts {
        type Sleep = std::future::Ready<()>;

        fn sleep(&self, delay: Duration) -> Self::Sleep {
            self.0.set(self.0.get() + delay);
            std::future::ready(())
        }
    }

    let clock = ByAttempts(Cell::new(secs(100)));
    let recorder = Recorder::new().refusing_retries(RetryError::MaxAttempts);
    let call = retry(&recorder, || async {
        clock.0.set(secs(20));
        SAFE
    });
    let report = call.timer(&clock).max_time(secs(10)).report().await;
    assert_eq!(report.outcome, SAFE);
    assert_eq!(recorder.last_failure().unwrap().remaining(), Some(secs(10)), "no time has passed");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_blocks_its_thread_past_the_limit_keeps_its_outcome() {
    struct Blocking(Cell<Duration>);
    impl Clock for Blocking {
        fn now(&self) -> Timestamp {
            Timestamp::from_origin(self.0.get())
        }
    }
    impl Timer for Blocking {
        type Sleep = std::future::Pending<()>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            std::future::pending()
        }
    }

    let (time, strategy) = (Blocking(Cell::default()), standard());
    let call = retry(&strategy, || async {
        time.0.set(secs(60));
        SAFE
    });
    let report = call.timer(&time).max_time(secs(5)).report().await;
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
}

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

#[tokio::test(start_paused = true)]
async fn the_limits_may_be_fields_and_are_read_once_in_each_call() {
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
    struct Local(#[expect(dead_code, reason = "it makes the error not Send")] Option<Rc<()>>);
    impl ErrorInfo for Local {}
    impl RetryInfo for Local {
        fn is_retry_safe(&self) -> RetrySafety {
            RetrySafety::Yes
        }
    }
    impl From<TimedOut> for Local {
        fn from(_: TimedOut) -> Self {
            Self(None)
        }
    }

    #[retryable(strategy = "standard", attempt_timeout = "1s")]
    async fn call() -> Result<(), Local> {
        sleep(secs(2)).await;
        Err(Local(Some(Rc::new(()))))
    }

    assert!(assert_send(call()).await.is_err());
    let strategy = standard().max_attempts(2);
    assert!(assert_send(retry(&strategy, call).attempt_timeout(secs(1)).run()).await.is_err());
}

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

#[tokio::test(start_paused = true)]
async fn a_timer_that_panics_leaves_the_quota_as_it_was() {
    /// Panics when it is asked for the sleep of this number.
    struct Touchy(Cell<u32>);
    impl Clock for Touchy {
        fn now(&self) -> Timestamp {
            TokioTimer.now()
        }
    }
    impl Timer for Touchy {
        type Sleep = std::future::Ready<()>;

        fn sleep(&self, _: Duration) -> Self::Sleep {
            self.0.set(self.0.get().checked_sub(1).expect("it is tired"));
            std::future::ready(())
        }
    }

    // The deadline of the first attempt, the backoff, and the deadline of the second attempt.
    for (sleeps, sent) in [(0, 0), (1, 1), (2, 1)] {
        let (strategy, calls) = (standard(), Cell::new(0));
        let call = retry(&strategy, || {
            calls.set(calls.get() + 1);
            std::future::ready(SAFE)
        });
        let call = AssertUnwindSafe(call.timer(Touchy(Cell::new(sleeps))).attempt_timeout(secs(7)).run());
        assert!(catch_unwind(move || poll_once(pin!({ call }.0))).is_err());
        assert_eq!((calls.get(), strategy.quota().available()), (sent, 500), "what was paid was not sent");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_that_an_observer_takes_counts() {
    struct Slow<'a>(&'a Cell<Duration>);
    impl Observer for Slow<'_> {
        fn observe(&self, _: &Event) {
            self.0.set(self.0.get() + secs(2));
        }
    }
    struct Steps<'a>(&'a Cell<Duration>);
    impl Clock for Steps<'_> {
        fn now(&self) -> Timestamp {
            Timestamp::from_origin(self.0.get())
        }
    }
    impl Timer for Steps<'_> {
        type Sleep = tokio::time::Sleep;

        fn sleep(&self, delay: Duration) -> Self::Sleep {
            sleep(delay)
        }
    }

    let (now, strategy, started) = (Cell::default(), standard(), Instant::now());
    let call = retry(&strategy, std::future::pending::<Result<u32, Error>>).observer(Slow(&now)).timer(Steps(&now));
    assert!(call.max_time(secs(3)).run().await.is_err());
    assert_eq!(started.elapsed(), secs(1), "two of the three seconds were the observer's");
}
