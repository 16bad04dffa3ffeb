//! `deadline`, a limit on an operation that is a point in time.

use crate::script::{Error, SAFE, Script, time_was_up};
use crate::support::timers::Noted;
use crate::support::{millis, secs};
use retry_core::time::Timestamp;
use retry_core::{Clock, Jitter, StandardRetryStrategy, TimeLimit, TokioTimer, retryable};
use std::cell::Cell;
use std::time::Duration;
use tokio::time::{Instant, advance, sleep};

/// Delays of 1, 2, 4 and 8 seconds.
fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

#[retryable(strategy = "standard", deadline = at)]
async fn until(at: impl Into<Timestamp>) -> Result<u32, Error> {
    sleep(Duration::MAX).await;
    SAFE
}

#[retryable(strategy = "standard", deadline = at, max_time = max_time)]
async fn within(at: Instant, max_time: Duration) -> Result<u32, Error> {
    sleep(Duration::MAX).await;
    SAFE
}

// Rule T14.
#[tokio::test(start_paused = true)]
async fn it_may_be_an_instant_of_the_standard_library_or_of_tokio_or_a_timestamp() {
    let started = Instant::now();
    let cut = Some((TimeLimit::Deadline, secs(3)));
    assert_eq!(time_was_up(&until(started + secs(3)).await), cut);
    assert_eq!(time_was_up(&until((started + secs(6)).into_std()).await), cut);
    assert_eq!(time_was_up(&until(TokioTimer.now().saturating_add(secs(3))).await), cut);
    assert_eq!(started.elapsed(), secs(9));
}

// Rule T14.
#[tokio::test(start_paused = true)]
async fn the_earlier_of_it_and_max_time_counts() {
    let cut_by = async |deadline: u64, max_time: u64| {
        let outcome = within(Instant::now() + secs(deadline), secs(max_time)).await;
        time_was_up(&outcome)
    };
    assert_eq!(cut_by(2, 7).await, Some((TimeLimit::Deadline, secs(2))));
    assert_eq!(cut_by(7, 2).await, Some((TimeLimit::Operation, secs(2))));
}

// Rules T12, T14.
#[tokio::test(start_paused = true)]
async fn it_is_evaluated_once_in_each_call() {
    #[retryable(strategy = strategy, deadline = at(evaluated), attempt_timeout = "8s")]
    async fn call(strategy: &StandardRetryStrategy, script: &Script, evaluated: &Cell<u32>) -> Result<u32, Error> {
        script.attempt().await
    }

    fn at(evaluated: &Cell<u32>) -> Instant {
        evaluated.set(evaluated.get() + 1);
        Instant::now() + millis(2500)
    }

    let (strategy, evaluated) = (standard(), Cell::new(0));
    let script = Script::new([(Duration::ZERO, SAFE), (secs(9), SAFE)]);
    assert_eq!(call(&strategy, &script, &evaluated).await, SAFE, "the last outcome is kept");
    assert_eq!((script.begun.into_inner().len(), script.started.elapsed()), (2, millis(2500)));
    assert_eq!(evaluated.get(), 1);
}

// Rules T6, T14.
#[tokio::test(start_paused = true)]
async fn an_attempt_timeout_beside_it_still_cuts_each_attempt() {
    #[retryable(strategy = strategy, deadline = at, attempt_timeout = "2s")]
    async fn call(strategy: &StandardRetryStrategy, script: &Script, at: Instant) -> Result<u32, Error> {
        script.attempt().await
    }

    // Two seconds, a wait of one second, and what is left of the five.
    let (strategy, script) = (standard(), Script::new([(Duration::MAX, SAFE)]));
    let outcome = call(&strategy, &script, script.started + secs(5)).await;
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Attempt, secs(2))), "the last outcome is kept");
    assert_eq!((script.begun.into_inner(), script.started.elapsed()), (vec![secs(0), secs(3)], secs(5)));
}

// Rule T14.
#[tokio::test(start_paused = true)]
async fn one_that_is_past_leaves_one_poll() {
    #[retryable(strategy = "standard", deadline = at)]
    async fn ready(at: Instant) -> Result<u32, Error> {
        Ok(1)
    }

    let past = Instant::now();
    advance(secs(1)).await;
    assert_eq!(ready(past).await, Ok(1));
    assert_eq!(time_was_up(&until(past).await), Some((TimeLimit::Deadline, Duration::ZERO)));
    assert_eq!(past.elapsed(), secs(1));
}

// Rules T11, T14.
#[test]
fn a_blocking_function_begins_no_attempt_after_it() {
    #[retryable(strategy = strategy, timer = time, deadline = at, blocking)]
    fn call(strategy: &StandardRetryStrategy, time: &Noted, at: Timestamp, calls: &mut u32) -> Result<u32, Error> {
        *calls += 1;
        SAFE
    }

    let (strategy, time, mut calls) = (standard(), Noted::default(), 0);
    let at = time.now().saturating_add(secs(4));
    assert_eq!(call(&strategy, &time, at, &mut calls), SAFE);
    assert_eq!((calls, time.asked()), (3, vec![("block", secs(1)), ("block", secs(2))]));
}
