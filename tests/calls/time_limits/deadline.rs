//! `deadline`, a limit on an operation in the form of a point in time.

use crate::script::{Error, SAFE, Script, time_was_up};
use crate::support::timers::{Noted, run};
use crate::support::{millis, secs};
use retry_core::time::{BlockingTimer, ManualSleep, ManualTimer, Timestamp};
use retry_core::{
    Clock, Jitter, RetryError, StandardRetryStrategy, TimeLimit, TimedOut, Timer, TokioTimer, retry, retry_blocking,
};
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

async fn stuck() -> Result<u32, Error> {
    sleep(Duration::MAX).await;
    SAFE
}

// Rule T14.
#[tokio::test(start_paused = true)]
async fn a_deadline_may_be_an_instant_of_the_standard_library_or_of_tokio_or_a_timestamp() {
    let strategy = standard();
    for kind in ["tokio", "std", "timestamp"] {
        let at = Instant::now() + secs(3);
        let call = retry(&strategy, stuck);
        let call = match kind {
            "tokio" => call.deadline(at),
            "std" => call.deadline(at.into_std()),
            _ => call.deadline(TokioTimer.now().saturating_add(secs(3))),
        };
        let report = call.report().await;
        assert_eq!((report.elapsed, report.reason), (secs(3), Some(RetryError::MaxTime)), "{kind}");
    }
}

// Rule T14.
#[tokio::test(start_paused = true)]
async fn the_earlier_of_deadline_and_max_time_counts() {
    let strategy = standard();
    let cut_by = async |deadline: u64, max_time: u64| {
        let at = Instant::now() + secs(deadline);
        let one = retry(&strategy, stuck).deadline(at).max_time(secs(max_time)).run().await;
        let at = Instant::now() + secs(deadline);
        let other = retry(&strategy, stuck).max_time(secs(max_time)).deadline(at).run().await;
        assert_eq!(one, other, "the order does not matter");
        time_was_up(&one)
    };
    assert_eq!(cut_by(2, 7).await, Some((TimeLimit::Deadline, secs(2))));
    assert_eq!(cut_by(7, 2).await, Some((TimeLimit::Operation, secs(2))));
    assert_eq!(cut_by(3, 3).await, Some((TimeLimit::Operation, secs(3))), "the deadline is not earlier");
}

#[tokio::test(start_paused = true)]
async fn a_deadline_does_not_move_although_the_time_of_the_call_starts_with_its_first_poll() {
    let strategy = standard();
    let call = retry(&strategy, stuck).deadline(Instant::now() + secs(5)).run();
    advance(secs(4)).await;
    let started = Instant::now();
    assert_eq!(time_was_up(&call.await), Some((TimeLimit::Deadline, secs(1))));
    assert_eq!(started.elapsed(), secs(1));
}

// Rule T14.
#[tokio::test(start_paused = true)]
async fn a_deadline_in_the_past_allows_one_poll() {
    let strategy = standard();
    let past = Instant::now();
    advance(secs(1)).await;
    let ready = retry(&strategy, async || Ok::<_, Error>(1)).deadline(past).run().await;
    assert_eq!(ready, Ok(1));
    let report = retry(&strategy, stuck).deadline(past).report().await;
    assert_eq!((report.attempts, report.elapsed), (1, Duration::ZERO));
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Deadline, Duration::ZERO)));
}

/// A clock that moves on with each reading, as a real one does.
#[derive(Default)]
struct Ticking {
    timer: ManualTimer,
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        self.timer.advance(Duration::from_nanos(1));
        self.timer.now()
    }
}

impl Timer for Ticking {
    type Sleep = ManualSleep;

    fn sleep(&self, delay: Duration) -> ManualSleep {
        self.timer.sleep(delay)
    }
}

impl BlockingTimer for Ticking {
    fn block(&self, delay: Duration) {
        self.timer.block(delay);
    }
}

// Rules T7, T14.
#[test]
fn a_limit_of_zero_leaves_one_poll_by_a_clock_that_moves_too() {
    let (strategy, time) = (standard(), Ticking::default());
    let call = || retry(&strategy, async || Ok::<_, Error>(1)).timer(&time);
    assert_eq!(run(&time.timer, call().max_time(Duration::ZERO).run()), Ok(1));
    assert_eq!(run(&time.timer, call().deadline(Timestamp::START).run()), Ok(1));
    let blocking = || retry_blocking(&strategy, || Ok::<_, Error>(1)).timer(&time);
    assert_eq!(blocking().max_time(Duration::ZERO).run(), Ok(1));
    assert_eq!(blocking().deadline(Timestamp::START).run(), Ok(1));
    // No other attempt follows.
    let report = run(&time.timer, retry(&strategy, async || SAFE).timer(&time).max_time(Duration::ZERO).report());
    assert_eq!((report.outcome, report.attempts, report.reason), (SAFE, 1, Some(RetryError::MaxTime)));
}

// Rules T3, T14.
#[tokio::test(start_paused = true)]
async fn the_last_outcome_is_kept_and_no_wait_ends_after_the_deadline() {
    let (strategy, script) = (standard(), Script::new([(Duration::ZERO, SAFE), (secs(9), SAFE)]));
    let at = Instant::now() + millis(2500);
    let report = retry(&strategy, || script.attempt()).deadline(at).attempt_timeout(secs(8)).report().await;
    assert_eq!((report.outcome, report.reason), (SAFE, Some(RetryError::MaxTime)));
    assert_eq!((report.attempts, report.elapsed), (2, millis(2500)));
    let call = retry(&strategy, stuck).attempt_timeout(secs(8)).deadline(Instant::now() + millis(2500));
    assert_eq!(time_was_up(&call.run().await), Some((TimeLimit::Deadline, millis(2500))), "in the other order");
}

// Rules T11, T14.
#[test]
fn a_blocking_call_begins_no_attempt_after_its_deadline() {
    let (strategy, time) = (standard(), Noted::default());
    let at = time.now().saturating_add(secs(4));
    let report = retry_blocking(&strategy, || SAFE).timer(&time).deadline(at).report();
    assert_eq!((report.outcome, report.attempts, report.elapsed), (SAFE, 3, secs(3)));
}

#[test]
fn the_error_names_the_limit() {
    let error = TimedOut::new(TimeLimit::Deadline, secs(2));
    assert_eq!(error.to_string(), "the operation had no outcome within 2s (`deadline`)");
}
