//! Custom policies and timers, with the attribute and with closures.

mod chain;
mod looks_boolean;

use crate::support::timers::{run, since_start};
use crate::support::{Failed, Flaky, millis, secs};
use retry_core::time::ManualTimer;
use retry_core::{
    ErrorFault, ErrorInfo, Jitter, RetryDirective, RetryError, RetryErrorType, RetryInfo, RetryPolicy, RetryQuota,
    RetrySafety, StandardRetryPolicy, StandardRetryStrategy, policy_fn, retry, retryable,
};
use std::cell::Cell;

static STRATEGY: StandardRetryStrategy =
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(100_000);

/// The status of a job.
#[derive(Debug, PartialEq)]
enum Status {
    Running,
    Done(u32),
    Gone,
}

/// A job that is done after a number of polls.
struct Job {
    done_after: u32,
    polls: Cell<u32>,
}

impl Job {
    fn status(&self) -> Status {
        self.polls.set(self.polls.get() + 1);
        if self.polls.get() > self.done_after { Status::Done(self.polls.get()) } else { Status::Running }
    }
}

fn until_done(status: &Status) -> RetryDirective {
    match status {
        Status::Running => RetryDirective::retry(RetryErrorType::Other),
        Status::Done(_) => RetryDirective::succeed(),
        Status::Gone => RetryDirective::fail(None),
    }
}

// Rule R4.
#[tokio::test(start_paused = true)]
async fn values_may_be_retried_until_they_are_final() {
    #[retryable(strategy = STRATEGY, policy = |status| match status {
        Status::Running => RetryDirective::retry(RetryErrorType::Other).after(Some(secs(3))),
        Status::Done(_) => RetryDirective::succeed(),
        Status::Gone => RetryDirective::fail(None),
    })]
    async fn wait_for(job: &Job) -> Status {
        job.status()
    }

    let started = tokio::time::Instant::now();
    assert_eq!(wait_for(&Job { done_after: 2, polls: Cell::new(0) }).await, Status::Done(3));
    assert_eq!(started.elapsed(), secs(3 + 3), "the hint of a directive is a minimum, too");
    assert_eq!(
        wait_for(&Job { done_after: 99, polls: Cell::new(0) }).await,
        Status::Running,
        "the last value is returned unchanged"
    );
}

// Rules O8, R4.
#[tokio::test(start_paused = true)]
async fn the_report_of_a_waiter_has_the_reason_to_stop() {
    let job = Job { done_after: 99, polls: Cell::new(0) };
    let report = retry(&STRATEGY, || async { job.status() }).policy(policy_fn(until_done)).report().await;
    assert_eq!(report.outcome, Status::Running);
    assert_eq!((report.attempts, report.reason), (5, Some(RetryError::MaxAttempts)));

    let report = retry(&STRATEGY, || async { Status::Gone }).policy(policy_fn(until_done)).report().await;
    assert_eq!((report.attempts, report.reason), (1, Some(RetryError::NotRetryable)));
}

#[tokio::test(start_paused = true)]
async fn a_policy_may_be_a_static_an_expression_or_an_argument() {
    /// A policy that retries every error.
    struct Stubborn;
    impl<T, E> RetryPolicy<Result<T, E>> for Stubborn {
        fn evaluate(&self, outcome: &Result<T, E>) -> RetryDirective {
            match outcome {
                Ok(_) => RetryDirective::succeed(),
                Err(_) => RetryDirective::retry(RetryErrorType::Throttling),
            }
        }
    }
    static STUBBORN: Stubborn = Stubborn;
    let strategy = StandardRetryStrategy::aws_2_1().jitter(Jitter::Fixed(0.0));

    #[retryable(strategy = strategy, policy = STUBBORN)]
    async fn named(strategy: &StandardRetryStrategy, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY, policy = StandardRetryPolicy::new().idempotent(true))]
    async fn made(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY, policy = policy)]
    async fn handed(policy: Box<dyn RetryPolicy<Result<u32, Failed>>>, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }
    #[retryable(strategy = STRATEGY, policy = policy_fn(|()| RetryDirective::succeed()))]
    async fn nothing(flaky: &Flaky) {
        let _ = flaky.call();
    }

    assert_eq!(named(&strategy, &Flaky::new(1, Failed::FATAL)).await, Ok(2));
    assert_eq!(
        strategy.quota().available(),
        500,
        "the retry costs and refunds the amount of the class that the policy set"
    );
    let maybe = Failed { safety: RetrySafety::Maybe, ..Failed::SAFE };
    assert_eq!(made(&Flaky::new(1, maybe)).await, Ok(2));
    assert_eq!(handed(Box::new(Stubborn), &Flaky::new(1, Failed::FATAL)).await, Ok(2));
    let flaky = Flaky::new(1, Failed::SAFE);
    nothing(&flaky).await;
    assert_eq!(flaky.calls(), 1);
}

struct Client {
    time: ManualTimer,
    calls: u32,
}

impl Client {
    #[retryable(strategy = STRATEGY, timer = self.time)]
    async fn field(&mut self, failures: u32) -> Result<u32, Failed> {
        self.calls += 1;
        if self.calls > failures { Ok(self.calls) } else { Err(Failed::SAFE) }
    }

    #[retryable(strategy = STRATEGY, timer = Box::new(time))]
    async fn made(&self, time: &ManualTimer, flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }
}

// Rule K5.
#[test]
fn a_timer_may_be_a_field_or_an_expression_and_needs_no_runtime() {
    let time = ManualTimer::new();
    let mut client = Client { time: time.clone(), calls: 0 };
    assert_eq!(run(&time, client.field(3)), Ok(4));
    assert_eq!(since_start(&time), secs(1 + 2 + 4));

    let time = ManualTimer::new();
    assert_eq!(run(&time, client.made(&time, &Flaky::new(1, Failed::SAFE.after(millis(1500))))), Ok(2));
    assert_eq!(since_start(&time), millis(1500));
}

// Rules P1, P2.
#[tokio::test(start_paused = true)]
async fn idempotence_decides_only_about_uncertain_failures() {
    static ONE_RETRY: StandardRetryStrategy =
        StandardRetryStrategy::new().max_attempts(2).jitter(Jitter::Fixed(0.0)).quota_capacity(u32::MAX);

    #[retryable(strategy = ONE_RETRY)]
    async fn unset(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    #[retryable(strategy = ONE_RETRY, idempotent)]
    async fn declared(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    #[retryable(strategy = ONE_RETRY, idempotent = false)]
    async fn denied(flaky: &Flaky) -> Result<u32, Failed> {
        flaky.call()
    }

    for error in Failed::all() {
        for idempotent in [None, Some(true), Some(false)] {
            let known = error.timeout || error.fault == ErrorFault::Server;
            let retried = match error.safety {
                RetrySafety::Yes => true,
                RetrySafety::No => false,
                RetrySafety::Maybe => idempotent.unwrap_or(known),
            };
            let (attribute, closure) = (Flaky::new(9, error), Flaky::new(9, error));
            let call = retry(&ONE_RETRY, || async { closure.call() });
            let outcomes = match idempotent {
                None => [unset(&attribute).await, call.run().await],
                Some(true) => [declared(&attribute).await, call.idempotent(true).run().await],
                Some(false) => [denied(&attribute).await, call.idempotent(false).run().await],
            };
            assert_eq!(outcomes, [Err(error), Err(error)]);
            let calls = [attribute.calls(), closure.calls()];
            assert_eq!(calls, [1 + u32::from(retried); 2], "{error:?} with idempotent = {idempotent:?}");
        }
    }
}

// Rule P4.
#[test]
fn an_error_without_an_answer_of_its_own_is_judged_by_what_else_it_says() {
    /// Leaves `is_retry_safe` to its default.
    struct Unsaid(Failed);
    impl ErrorInfo for Unsaid {
        fn fault(&self) -> ErrorFault {
            self.0.fault
        }
    }
    impl RetryInfo for Unsaid {
        fn is_throttle(&self) -> bool {
            self.0.throttle
        }

        fn is_timeout(&self) -> bool {
            self.0.timeout
        }

        fn is_conflict(&self) -> bool {
            self.0.conflict
        }
    }

    for error in Failed::all() {
        let expected = match error {
            Failed { throttle: true, .. } | Failed { conflict: true, .. } => RetrySafety::Yes,
            Failed { timeout: true, .. } => RetrySafety::Maybe,
            Failed { fault: ErrorFault::Client, .. } => RetrySafety::No,
            _ => RetrySafety::Maybe,
        };
        assert_eq!(Unsaid(error).is_retry_safe(), expected, "{error:?}");
    }
}
