//! A waiter that polls until a job is done. Its policy retries an `Ok` whose status is not final yet, and leaves errors
//! to the standard policy.

use retry_core::backoff::LinearBackoff;
use retry_core::{
    Observer, RetryDirective, RetryError, RetryErrorType, RetryInfo, RetryPolicy, StandardRetryPolicy,
    StandardRetryStrategy, retry, retryable,
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
    TimedOut(retry_core::TimedOut),
}

impl From<retry_core::TimedOut> for JobError {
    fn from(error: retry_core::TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

/// Retries until the job is done or has failed.
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

// The delay between polls grows, and `max_time` ends the polling. A poll is not a retry of a failed request, so the
// quota is large enough for all polls.
static POLLS: StandardRetryStrategy<LinearBackoff> = StandardRetryStrategy::new()
    .max_attempts(u32::MAX)
    .quota_capacity(u32::MAX)
    .with_backoff(LinearBackoff::new(Duration::from_millis(20), Duration::from_millis(200)));

/// Prints each event.
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

    for failing in [Job::new(3, || Ok(Status::Failed)), Job::new(0, || Err(JobError::NoSuchJob))] {
        println!("{:?}\n", wait_for(&failing).await);
    }

    // The report of the closure form includes the reason to stop.
    let endless = Job::new(u32::MAX, || Ok(Status::Done));
    let call = retry(&POLLS, || endless.status()).policy(UntilDone).max_time(Duration::from_millis(300));
    let report = call.report().await;
    let reason = report.reason.map_or_else(String::new, |reason| reason.to_string());
    println!("{:?} after {} polls: {reason}", report.outcome, report.attempts);

    let as_expected = matches!(outcome, Ok(Status::Done)) && report.reason == Some(RetryError::MaxTime);
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Stands in for a job of a service. The job ends after a number of polls.
struct Job {
    polls: u32,
    end: fn() -> Result<Status, JobError>,
    polled: AtomicU32,
}

impl Job {
    const fn new(polls: u32, end: fn() -> Result<Status, JobError>) -> Self {
        Self { polls, end, polled: AtomicU32::new(0) }
    }

    #[expect(clippy::unused_async, reason = "a client would wait for the answer here")]
    async fn status(&self) -> Result<Status, JobError> {
        match self.polled.fetch_add(1, Ordering::Relaxed) {
            polled if polled >= self.polls => (self.end)(),
            0 => Ok(Status::Pending),
            1 => Err(JobError::SlowDown),
            _ => Ok(Status::Running),
        }
    }
}
