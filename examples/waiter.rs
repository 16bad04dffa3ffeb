//! A waiter: polls until a job is done. Its policy makes a retry of an `Ok` that is not what is waited for, and leaves the
//! errors to the standard policy.

use retry_core::backoff::LinearBackoff;
use retry_core::{
    Observer, RetryDirective, RetryError, RetryErrorType, RetryInfo, RetryPolicy, StandardRetryPolicy,
    StandardRetryStrategy, TimedOut, retry, retryable,
};
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[derive(Debug, PartialEq)]
enum Status {
    Pending,
    Running,
    Done,
    Failed,
}

#[derive(Debug, RetryInfo)]
enum JobError {
    #[retry(throttling)]
    SlowDown,
    #[retry(fault = "client")]
    NoSuchJob,
    #[retry(transparent)]
    TimedOut(TimedOut),
}

impl From<TimedOut> for JobError {
    fn from(error: TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

/// What is waited for.
struct UntilDone;

impl RetryPolicy<Result<Status, JobError>> for UntilDone {
    fn evaluate(&self, outcome: &Result<Status, JobError>) -> RetryDirective {
        match outcome {
            Ok(Status::Done) => RetryDirective::succeed(),
            Ok(Status::Failed) => RetryDirective::fail(None),
            Ok(Status::Pending | Status::Running) => RetryDirective::retry(RetryErrorType::Other),
            Err(error) => StandardRetryPolicy::new().evaluate_error(error),
        }
    }
}

// Polls come at growing distances, for as long as `max_time` allows. They are no retries of something that failed, so the
// quota is large enough for all of them.
static POLLS: StandardRetryStrategy<LinearBackoff> = StandardRetryStrategy::new()
    .max_attempts(u32::MAX)
    .quota_capacity(u32::MAX)
    .with_backoff(LinearBackoff::new(Duration::from_millis(20), Duration::from_millis(200)));

/// Prints how it goes.
struct Progress;

impl Observer for Progress {
    fn observe(&self, event: &retry_core::Event) {
        println!("{:>4} ms  attempt {}: {}", event.elapsed.as_millis(), event.attempt, event.kind.as_str());
    }
}

#[retryable(strategy = POLLS, policy = UntilDone, max_time = "5s", observer = Progress)]
async fn wait_for(job: &Job) -> Result<Status, JobError> {
    job.status().await
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let quick = Job::new(4, || Ok(Status::Done));
    let outcome = wait_for(&quick).await;
    println!("{outcome:?}\n");

    for refused in [Job::new(3, || Ok(Status::Failed)), Job::new(0, || Err(JobError::NoSuchJob))] {
        println!("{:?}\n", wait_for(&refused).await);
    }

    // The closure form reports why it gave up.
    let endless = Job::new(u32::MAX, || Ok(Status::Done));
    let call = retry(&POLLS, || endless.status()).policy(UntilDone).max_time(Duration::from_millis(300));
    let report = call.report().await;
    let reason = report.reason.map_or_else(String::new, |reason| reason.to_string());
    println!("{:?} after {} polls: {reason}", report.outcome, report.attempts);

    let as_expected = matches!(outcome, Ok(Status::Done)) && report.reason == Some(RetryError::MaxTime);
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Stands for a job at a service: it comes to its end after so many questions.
struct Job {
    questions: u32,
    end: fn() -> Result<Status, JobError>,
    asked: AtomicU32,
}

impl Job {
    const fn new(questions: u32, end: fn() -> Result<Status, JobError>) -> Self {
        Self { questions, end, asked: AtomicU32::new(0) }
    }

    #[expect(clippy::unused_async, reason = "a client would wait for the answer here")]
    async fn status(&self) -> Result<Status, JobError> {
        match self.asked.fetch_add(1, Ordering::Relaxed) {
            asked if asked >= self.questions => (self.end)(),
            0 => Ok(Status::Pending),
            1 => Err(JobError::SlowDown),
            _ => Ok(Status::Running),
        }
    }
}
