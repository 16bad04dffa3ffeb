//! Waits with `max_time`: a wait that can end early is shortened, and any other wait must fit.

use super::in_flight::{BOUND, InFlight};
use super::{Operation, Outcome, attribute_with_limits, never, one_slot, standard};
use crate::script::{Error, SAFE, time_was_up};
use crate::support::{Recorder, poll_once, secs};
use retry_core::time::{BlockingTimer, Clock, ManualTimer, Timestamp};
use retry_core::{Event, EventKind, Observer, RetryError, RetryQuota, RetryStrategy, TimeLimit, retry, retryable};
use std::cell::{Cell, RefCell};
use std::pin::pin;
use std::time::Duration;
use tokio::time::Instant;

const LIMIT: Duration = secs(5);

// Rule T10.
#[tokio::test(start_paused = true)]
async fn a_wait_that_can_end_early_is_shortened_to_the_remaining_time() {
    let limiter = one_slot();
    let mut holding = pin!(retry(&limiter, never).run());
    poll_once(holding.as_mut());
    let started = Instant::now();
    let report = retry(&limiter, never).max_time(LIMIT).report().await;
    assert_eq!(time_was_up(&report.outcome), Some((TimeLimit::Operation, LIMIT)));
    assert_eq!((report.attempts, report.reason, started.elapsed()), (0, Some(RetryError::MaxTime), LIMIT));
    assert_eq!(limiter.counts(), (0, 0, 1 + 2), "no operation waits any more");

    let started = Instant::now();
    let outcome = attribute_with_limits(&limiter, &never, LIMIT).await;
    assert_eq!((time_was_up(&outcome), started.elapsed()), (Some((TimeLimit::Operation, LIMIT)), LIMIT));
    assert_eq!(limiter.counts(), (0, 0, 1 + 4));
}

/// Runs an operation that fails once and then waits for a slot that another request took during the backoff.
async fn overtaken<'a>(limiter: &'a InFlight, run: impl AsyncFnOnce(&dyn Fn() -> Operation<'a>) -> Outcome) -> Outcome {
    let mut other = pin!(retry(limiter, never).run());
    let attempt = || -> Operation<'_> { Box::pin(std::future::ready(SAFE)) };
    let overtaking = async {
        // The slot is free during the backoff.
        tokio::time::sleep(super::millis(500)).await;
        poll_once(other.as_mut());
        assert_eq!(limiter.retries.quota().available(), 495);
    };
    tokio::join!(run(&attempt), overtaking).0
}

// Rules T3, T10.
#[tokio::test(start_paused = true)]
async fn a_retry_that_gets_no_slot_in_time_is_refunded_and_the_last_outcome_is_returned() {
    let (limiter, started) = (one_slot(), Instant::now());
    let outcome = overtaken(&limiter, async |attempt| attribute_with_limits(&limiter, attempt, LIMIT).await).await;
    assert_eq!((outcome, started.elapsed()), (SAFE, LIMIT), "attribute");
    assert_eq!((limiter.retries.quota().available(), limiter.counts().0), (500, 1));

    let (limiter, started) = (one_slot(), Instant::now());
    let outcome = overtaken(&limiter, async |attempt| {
        let report = retry(&limiter, attempt).max_time(LIMIT).report().await;
        assert_eq!((report.attempts, report.reason), (1, Some(RetryError::MaxTime)));
        report.outcome
    })
    .await;
    assert_eq!((outcome, started.elapsed()), (SAFE, LIMIT), "closure");
    assert_eq!((limiter.retries.quota().available(), limiter.counts().0), (500, 1));
}

#[retryable(strategy = strategy, max_time = LIMIT)]
async fn within<S: RetryStrategy>(strategy: &S) -> Outcome {
    Ok(1)
}

// Rule T8.
#[tokio::test(start_paused = true)]
async fn a_wait_that_cannot_end_early_and_does_not_fit_ends_the_operation_at_once() {
    let (by_attribute, by_closure) = (Recorder::new().waiting([BOUND]), Recorder::new().waiting([BOUND]));
    let started = Instant::now();
    let outcomes = [within(&by_attribute).await, retry(&by_closure, never).max_time(LIMIT).run().await];
    assert_eq!(started.elapsed(), Duration::ZERO);
    for (outcome, strategy) in outcomes.iter().zip([by_attribute, by_closure]) {
        assert_eq!(time_was_up(outcome), Some((TimeLimit::Operation, LIMIT)));
        assert_eq!(strategy.calls(), ["initial", "ready", "release"]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_event_of_a_shortened_wait_has_the_shortened_time() {
    #[derive(Default)]
    struct Waits(RefCell<Vec<Duration>>);
    impl Observer for Waits {
        fn observe(&self, event: &Event) {
            if let EventKind::Limited { wait, .. } = event.kind {
                self.0.borrow_mut().push(wait);
            }
        }
    }

    let (limiter, waits) = (one_slot(), Waits::default());
    let mut holding = pin!(retry(&limiter, never).run());
    poll_once(holding.as_mut());
    assert!(retry(&limiter, never).max_time(LIMIT).observer(&waits).run().await.is_err());
    assert_eq!(waits.0.take(), [LIMIT]);
}

#[tokio::test(start_paused = true)]
async fn an_attempt_that_gets_a_slot_in_time_has_the_remaining_time() {
    let limiter = one_slot();
    let request = || async {
        tokio::time::sleep(secs(3)).await;
        Ok::<_, Error>(1)
    };
    let waiting = retry(&limiter, std::future::pending::<Outcome>).max_time(LIMIT).report();
    let started = Instant::now();
    let (first, second) = tokio::join!(retry(&limiter, request).run(), waiting);
    assert_eq!((first, second.attempts, started.elapsed()), (Ok(1), 1, LIMIT));
    assert_eq!(time_was_up(&second.outcome), Some((TimeLimit::Operation, LIMIT)));
}

#[retryable(strategy = strategy, timer = timer, max_time = LIMIT, blocking)]
fn within_blocking<S: RetryStrategy>(strategy: &S, timer: &ManualTimer, attempts: &Cell<u32>) -> Outcome {
    attempts.set(attempts.get() + 1);
    SAFE
}

#[test]
fn both_kinds_of_waits_obey_max_time_in_a_blocking_call() {
    let (limiter, timer, attempts) = (InFlight::new(1, standard()), ManualTimer::new(), Cell::new(0));
    let mut holding = pin!(retry(&limiter, never).timer(timer.clone()).run());
    poll_once(holding.as_mut());
    let outcome = within_blocking(&limiter, &timer, &attempts);
    assert_eq!(time_was_up(&outcome), Some((TimeLimit::Operation, LIMIT)));
    assert_eq!((timer.now(), attempts.get()), (Timestamp::START.saturating_add(LIMIT), 0));
    assert_eq!((limiter.counts(), limiter.retries.quota().available()), ((0, 0, 1 + 2), 500));

    let (strategy, timer) = (Recorder::new().waiting([BOUND]), ManualTimer::new());
    assert_eq!(time_was_up(&within_blocking(&strategy, &timer, &attempts)), Some((TimeLimit::Operation, LIMIT)));
    assert_eq!((timer.now(), attempts.get()), (Timestamp::START, 0));
    assert_eq!(strategy.calls(), ["initial", "ready", "release"]);
}

#[test]
fn a_retry_that_gets_no_slot_in_time_is_refunded_in_a_blocking_call() {
    /// A timer that lets another request take the slot during the backoff.
    struct Overtaking<'a> {
        timer: ManualTimer,
        other: RefCell<Operation<'a>>,
    }
    impl Clock for Overtaking<'_> {
        fn now(&self) -> Timestamp {
            self.timer.now()
        }
    }
    impl BlockingTimer for Overtaking<'_> {
        fn block(&self, delay: Duration) {
            poll_once(self.other.borrow_mut().as_mut());
            self.timer.advance(delay);
        }
    }

    #[retryable(strategy = limiter, timer = timer, max_time = LIMIT, blocking)]
    fn call(limiter: &InFlight, timer: &Overtaking<'_>) -> Outcome {
        assert_eq!(limiter.retries.quota().available(), 500);
        SAFE
    }

    let (limiter, timer) = (one_slot(), ManualTimer::new());
    let other = RefCell::new(Box::pin(retry(&limiter, never).timer(timer.clone()).run()) as Operation<'_>);
    let overtaking = Overtaking { timer: timer.clone(), other };
    assert_eq!(call(&limiter, &overtaking), SAFE);
    assert_eq!(timer.now(), Timestamp::START.saturating_add(LIMIT));
    assert_eq!((limiter.counts(), limiter.retries.quota().available()), ((0, 0, 4), 500));
}
