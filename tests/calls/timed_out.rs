//! `timed_out`: the error of an operation that a limit cuts, for an error type that is not ours.

use crate::support::{Failed, assert_send, kept, millis, secs};
use ::retry_core::drive::{Cut, Next, Operation, Settled};
use retry_core::limit::{LazyWaker, Ready};
use retry_core::strategy::ForeignToken;
use retry_core::time::ManualTimer;
use retry_core::{
    ChainPolicy, Clock, Event, EventKind, Failure, Hedge, Jitter, Observer, RetryDirective, RetryError, RetryErrorType,
    RetryInfo, RetryPolicy, RetryQuota, RetryStrategy, RetryToken, StandardRetryPolicy, StandardRetryStrategy, Stop,
    Success, TimeLimit, TimedOut, policy_fn, retry, retry_blocking, retryable,
};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;
use std::time::Duration;
use tokio::time::sleep;

/// An error of another crate: it neither is a `RetryInfo`, nor can be made from a `TimedOut`.
#[derive(Debug, PartialEq)]
enum Status {
    DeadlineExceeded(TimeLimit),
    Internal,
}

impl Status {
    const fn of(timed_out: TimedOut) -> Self {
        Self::DeadlineExceeded(timed_out.limit())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Status {}

type Outcome = Result<u32, Status>;

fn cut_by(limit: TimeLimit) -> Outcome {
    Err(Status::DeadlineExceeded(limit))
}

/// Delays of 1 and 2 seconds, and 3 attempts.
const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).max_attempts(3)
}

/// An attempt that takes 60 seconds.
async fn slow() -> Outcome {
    sleep(secs(60)).await;
    Ok(1)
}

/// The classes of failures, and `unknown_error` for its event.
#[derive(Default)]
struct Classes(RefCell<Vec<&'static str>>);

impl Observer for Classes {
    fn observe(&self, event: &Event) {
        match event.kind {
            EventKind::AttemptFailed { failure, .. } => {
                self.0.borrow_mut().push(failure.error_type().map_or("none", RetryErrorType::as_str));
            }
            EventKind::UnknownError { .. } => self.0.borrow_mut().push("unknown_error"),
            _ => {}
        }
    }
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    observer = classes,
    attempt_timeout = "2s",
    timed_out = |timed_out| Status::DeadlineExceeded(timed_out.limit())
)]
async fn annotated(strategy: &StandardRetryStrategy, classes: &Classes) -> Outcome {
    slow().await
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    observer = classes,
    attempt_timeout = "2s",
    timed_out = Status::of,
    on_retry = |error: &Status, _| assert_eq!(*error, Status::DeadlineExceeded(TimeLimit::Attempt)),
    on_end = |report| assert_eq!(report.reason, Some(RetryError::MaxAttempts))
)]
async fn told(strategy: &StandardRetryStrategy, classes: &Classes) -> Outcome {
    slow().await
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    observer = classes,
    idempotent,
    hedge = "1900ms",
    attempt_timeout = "2s",
    timed_out = Status::of
)]
async fn hedged(strategy: &StandardRetryStrategy, classes: &Classes) -> Outcome {
    slow().await
}

// Rules T5, T13.
#[tokio::test(start_paused = true)]
async fn an_attempt_that_is_cut_has_the_error_that_the_closure_makes_in_each_form() {
    for form in ["closure", "hedged closure", "attribute", "attribute with closures", "hedged attribute"] {
        let (strategy, classes) = (standard(), Classes::default());
        let call = || {
            let call = retry(&strategy, slow).policy(ChainPolicy::new().idempotent(true)).observer(&classes);
            call.attempt_timeout(secs(2)).timed_out(Status::of)
        };
        let outcome = match form {
            "closure" => call().run().await,
            "hedged closure" => call().hedge(kept(Hedge::after(millis(1_900)))).run().await,
            "attribute" => annotated(&strategy, &classes).await,
            "attribute with closures" => told(&strategy, &classes).await,
            _ => hedged(&strategy, &classes).await,
        };
        assert_eq!(outcome, cut_by(TimeLimit::Attempt), "{form}");
        // The policy does not know the error, so it is classified as a `TimedOut`, without a warning.
        let classes = classes.0.take();
        // The first attempt and its hedge are one failure.
        assert_eq!(classes, vec!["timeout"; if form.contains("hedged") { 2 } else { 3 }], "{form}");
        let paid = if form.contains("hedged") { 5 + 10 } else { 2 * 10 };
        assert_eq!(strategy.quota().available(), 500 - paid, "{form}");
    }
}

#[retryable(strategy = strategy, policy = ChainPolicy::new(), max_time = "2s", timed_out = Status::of)]
async fn annotated_within(strategy: &StandardRetryStrategy) -> Outcome {
    slow().await
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    idempotent,
    hedge = "1s",
    max_time = "2s",
    timed_out = Status::of
)]
async fn hedged_within(strategy: &StandardRetryStrategy) -> Outcome {
    slow().await
}

// Rules T3, T13.
#[tokio::test(start_paused = true)]
async fn an_operation_without_an_outcome_in_time_has_the_error_that_the_closure_makes() {
    let strategy = standard();
    let call = || retry(&strategy, slow).policy(ChainPolicy::new().idempotent(true));
    let expected = cut_by(TimeLimit::Operation);
    assert_eq!(call().max_time(secs(2)).timed_out(Status::of).run().await, expected);
    assert_eq!(call().timed_out(Status::of).max_time(secs(2)).run().await, expected, "before the limit");
    let call = call().timed_out(|_| Status::Internal).max_time(secs(2)).timed_out(Status::of);
    assert_eq!(call.hedge(kept(Hedge::after(secs(1)))).run().await, expected, "the last closure is used");
    assert_eq!(annotated_within(&strategy).await, expected);
    assert_eq!(hedged_within(&strategy).await, expected);
    let until = tokio::time::Instant::now() + secs(2);
    let call = retry(&strategy, slow).policy(ChainPolicy::new()).deadline(until);
    assert_eq!(call.timed_out(Status::of).run().await, cut_by(TimeLimit::Deadline));
}

#[retryable(strategy = strategy, policy = ChainPolicy::new(), stop = stop, timed_out = Status::of)]
async fn annotated_until(strategy: &StandardRetryStrategy, stop: &Stop) -> Outcome {
    slow().await
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    stop_when = std::future::ready(()),
    timed_out = Status::of
)]
async fn annotated_when(strategy: &StandardRetryStrategy) -> Outcome {
    slow().await
}

#[retryable(strategy = strategy, policy = ChainPolicy::new(), stop = stop, timed_out = Status::of, blocking)]
fn blocking_until(strategy: &StandardRetryStrategy, stop: &Stop) -> Outcome {
    Ok(1)
}

// Rules T13, T18.
#[tokio::test(start_paused = true)]
async fn an_operation_that_is_stopped_before_its_first_attempt_has_the_error_that_the_closure_makes() {
    let (strategy, stop, expected) = (standard(), Stop::new(), cut_by(TimeLimit::Stop));
    stop.stop();
    let call = retry(&strategy, slow).policy(ChainPolicy::new());
    assert_eq!(call.timed_out(Status::of).stop(&stop).run().await, expected);
    let call = retry(&strategy, slow).policy(ChainPolicy::new()).max_time(secs(1)).stop(&stop);
    assert_eq!(call.timed_out(Status::of).run().await, expected);
    assert_eq!(annotated_until(&strategy, &stop).await, expected);
    let call = retry_blocking(&strategy, || Ok::<u32, Status>(1)).policy(ChainPolicy::new());
    assert_eq!(call.stop(&stop).timed_out(Status::of).run(), expected);
    // A future that is ready stops them, too.
    let call = || retry(&strategy, slow).policy(ChainPolicy::new().idempotent(true)).timed_out(Status::of);
    assert_eq!(call().stop_when(std::future::ready(())).run().await, expected);
    let hedged = call().max_attempts(2).hedge(kept(Hedge::after(secs(1))));
    assert_eq!(hedged.stop_when(std::future::ready(())).run().await, expected);
    assert_eq!(annotated_when(&strategy).await, expected);
    assert_eq!(blocking_until(&strategy, &stop), expected);
}

/// A strategy whose attempts wait for 10 seconds.
struct Holding;

struct Held(bool);

impl RetryToken for Held {
    fn attempt(&self) -> u32 {
        1
    }

    fn delay(&self) -> Duration {
        Duration::ZERO
    }
}

impl RetryStrategy for Holding {
    type Token = Held;

    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<Held, RetryError> {
        Ok(Held(false))
    }

    fn refresh_retry_token(&self, _: Held, _: &Failure, _: &dyn Clock) -> Result<Held, RetryError> {
        Err(RetryError::Refused)
    }

    fn record_success(&self, _: Held, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        Ok(())
    }

    fn ready(&self, held: &mut Held, _: &dyn Clock, _: Option<&LazyWaker<'_>>) -> Ready {
        if std::mem::replace(&mut held.0, true) { Ready::Now } else { Ready::After(secs(10)) }
    }
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    timer = timer,
    max_time = "2s",
    timed_out = Status::of,
    blocking
)]
fn blocking(strategy: &Holding, timer: &ManualTimer) -> Outcome {
    Ok(1)
}

#[retryable(
    strategy = strategy,
    policy = ChainPolicy::new(),
    timer = timer,
    max_time = "2s",
    timed_out = Status::of,
    on_end = |report| assert_eq!(report.reason, Some(RetryError::MaxTime)),
    blocking
)]
fn blocking_and_told(strategy: &Holding, timer: &ManualTimer) -> Outcome {
    Ok(1)
}

// Rules T11, T13.
#[test]
fn a_blocking_operation_whose_time_is_over_before_its_first_attempt_has_that_error_too() {
    let (timer, expected) = (ManualTimer::new(), cut_by(TimeLimit::Operation));
    let call = retry_blocking(&Holding, || Ok::<u32, Status>(1)).policy(ChainPolicy::new()).timer(&timer);
    assert_eq!(call.max_time(secs(2)).timed_out(Status::of).run(), expected);
    assert_eq!(blocking(&Holding, &timer), expected);
    assert_eq!(blocking_and_told(&Holding, &timer), expected);
}

// Rule T5.
#[tokio::test(start_paused = true)]
async fn a_policy_that_knows_the_error_decides_on_it() {
    let strategy = standard();
    let policy = policy_fn(|outcome: &Outcome| match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::fail(Some(RetryErrorType::ServerSide)),
    });
    let call = retry(&strategy, slow).policy(policy).attempt_timeout(secs(2)).timed_out(Status::of);
    let report = call.report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));

    let call = retry(&strategy, slow).when(|error| *error != Status::DeadlineExceeded(TimeLimit::Attempt));
    let report = call.attempt_timeout(secs(2)).timed_out(Status::of).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
}

// Rules P2, T5.
#[tokio::test(start_paused = true)]
async fn an_unknown_error_of_a_cut_attempt_is_not_retried_if_the_operation_is_not_idempotent() {
    let (strategy, classes) = (standard(), Classes::default());
    let call = retry(&strategy, slow).policy(ChainPolicy::new().idempotent(false)).observer(&classes);
    let report = call.attempt_timeout(secs(2)).timed_out(Status::of).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
    assert_eq!(classes.0.take(), ["timeout"]);
}

// Rules P8, T5.
#[tokio::test(start_paused = true)]
async fn an_unknown_error_after_a_cut_attempt_is_still_unknown() {
    let (strategy, classes, calls) = (standard(), Classes::default(), Cell::new(0));
    let call = retry(&strategy, async || {
        calls.set(calls.get() + 1);
        if calls.get() == 1 { slow().await } else { Err(Status::Internal) }
    });
    let call = call.policy(ChainPolicy::new()).observer(&classes).name("unknown after a cut attempt");
    let outcome = call.attempt_timeout(secs(2)).timed_out(Status::of).run().await;
    assert_eq!((outcome, calls.get()), (Err(Status::Internal), 2));
    assert_eq!(classes.0.take(), ["timeout", "unknown_error", "unknown"]);
}

/// An error that forgets what it was made from.
#[derive(Debug, PartialEq)]
struct Opaque;

impl From<TimedOut> for Opaque {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

impl fmt::Display for Opaque {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("opaque")
    }
}

impl std::error::Error for Opaque {}

// Rule T5.
#[tokio::test(start_paused = true)]
async fn an_error_that_from_makes_is_classified_alike() {
    let (strategy, classes) = (standard(), Classes::default());
    let call = retry(&strategy, async || {
        sleep(secs(60)).await;
        Err::<u32, _>(Opaque)
    });
    let call = call.policy(ChainPolicy::new()).observer(&classes).attempt_timeout(secs(2));
    assert_eq!(call.run().await, Err(Opaque));
    assert_eq!(classes.0.take(), ["timeout"; 3]);
}

// Rules T5, R24.
#[test]
fn an_operation_that_is_driven_by_hand_classifies_it_alike() {
    let (strategy, clock, policy) = (standard(), ManualTimer::new(), ChainPolicy::new());
    let mut operation = Operation::builder(&strategy, "get").clock(&clock).attempt_timeout(secs(2)).begin();
    for is_cut in [true, false] {
        while let Next::Wait(time) = operation.next(Waker::noop()) {
            clock.advance(time);
        }
        operation.sent();
        let error = if is_cut {
            let Cut::Attempt(timed_out) = operation.cut() else { panic!("the attempt is cut") };
            Status::of(timed_out)
        } else {
            Status::Internal
        };
        let outcome = retry_core::drive::Outcome::new(Err::<u32, _>(error));
        let directive = operation.evaluate(&policy, &outcome);
        let expected = if is_cut {
            StandardRetryPolicy::new().evaluate(&Err::<(), _>(Failed::TIMEOUT))
        } else {
            RetryDirective::fail(Some(RetryErrorType::Unknown))
        };
        assert_eq!(directive, expected);
        assert_eq!(matches!(operation.settle(directive), Settled::Retry), is_cut);
    }
}

// Rule T13.
#[tokio::test(start_paused = true)]
async fn the_closure_may_own_what_it_names_and_its_future_is_send() {
    static STRATEGY: StandardRetryStrategy = standard();
    let (made, text) = (Arc::new(AtomicU32::new(0)), "GET".to_owned());
    let count = Arc::clone(&made);
    let call = retry(&STRATEGY, slow).policy(ChainPolicy::new()).attempt_timeout(secs(2)).max_time(millis(7_500));
    let call = call.timed_out(move |timed_out| {
        assert_eq!(text, "GET");
        count.fetch_add(1, Ordering::Relaxed);
        Status::of(timed_out)
    });
    // The third attempt is cut by the operation, whose last outcome is that of the second one.
    assert_eq!(assert_send(call.run()).await, cut_by(TimeLimit::Attempt));
    assert_eq!(made.load(Ordering::Relaxed), 2);
}

struct Client {
    limit: Cell<Option<TimeLimit>>,
    calls: u32,
}

impl Client {
    #[retryable(
        strategy = strategy,
        policy = ChainPolicy::new(),
        attempt_timeout = "2s",
        timed_out = |timed_out| {
            self.limit.set(Some(timed_out.limit()));
            message.push('!');
            Status::DeadlineExceeded(timed_out.limit())
        }
    )]
    async fn get(&mut self, strategy: &StandardRetryStrategy, message: &mut String) -> Outcome {
        self.calls += 1;
        message.push('?');
        slow().await
    }
}

// Rule T13.
#[tokio::test(start_paused = true)]
async fn the_closure_of_an_attribute_may_use_the_arguments() {
    let (mut client, mut message) = (Client { limit: Cell::new(None), calls: 0 }, String::new());
    assert_eq!(client.get(&standard(), &mut message).await, cut_by(TimeLimit::Attempt));
    assert_eq!((client.limit.get(), client.calls, &*message), (Some(TimeLimit::Attempt), 3, "?!?!?!"));
}

// Rule T13.
#[tokio::test(start_paused = true)]
async fn a_closure_without_a_limit_is_never_called() {
    let strategy = standard();
    let call = retry(&strategy, slow).policy(ChainPolicy::new()).timed_out(|_| unreachable!());
    assert_eq!(call.run().await, Ok(1));
}

// Rule T13.
#[tokio::test(start_paused = true)]
async fn it_is_used_in_place_of_from() {
    #[derive(Debug, PartialEq, RetryInfo)]
    #[retry(transparent)]
    struct Error(TimedOut);
    impl From<TimedOut> for Error {
        fn from(_: TimedOut) -> Self {
            unreachable!("there is a closure")
        }
    }
    let strategy = standard();
    let call = retry(&strategy, || async {
        sleep(secs(60)).await;
        Ok::<(), Error>(())
    });
    call.max_time(secs(1)).timed_out(Error).run().await.unwrap_err();
}
