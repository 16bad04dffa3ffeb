//! Scripted operations: the duration and the outcome of each attempt are given.

use crate::support::Failed;
use retry_core::time::Timestamp;
use retry_core::{
    Clock, RetryDirective, RetryErrorType, RetryInfo, RetrySafety, TimeLimit, TimedOut, Timer, TokioTimer,
};
use std::cell::RefCell;
use std::time::Duration;
use tokio::time::{Instant, sleep};

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
pub enum Error {
    #[retry(transparent)]
    Failed(Failed),
    #[retry(transparent)]
    TimedOut(TimedOut),
}

impl From<TimedOut> for Error {
    fn from(error: TimedOut) -> Self {
        Self::TimedOut(error)
    }
}

pub const SAFE: Result<u32, Error> = Err(Error::Failed(Failed::SAFE));

/// Returns the limit that ended an operation, if one did, and its time.
pub fn time_was_up(outcome: &Result<u32, Error>) -> Option<(TimeLimit, Duration)> {
    match outcome {
        Err(Error::TimedOut(error)) => Some((error.limit(), error.time())),
        _ => None,
    }
}

/// The duration and the outcome of each attempt. The last entry is repeated.
pub struct Script {
    attempts: Vec<(Duration, Result<u32, Error>)>,
    pub begun: RefCell<Vec<Duration>>,
    pub started: Instant,
    pub timer: FromStart,
}

impl Script {
    pub fn new(attempts: impl IntoIterator<Item = (Duration, Result<u32, Error>)>) -> Self {
        let started = Instant::now();
        Self { attempts: attempts.into_iter().collect(), begun: RefCell::default(), started, timer: FromStart(started) }
    }

    pub async fn attempt(&self) -> Result<u32, Error> {
        let attempt = self.begun.borrow().len();
        self.begun.borrow_mut().push(self.started.elapsed());
        let (time, outcome) = self.attempts[attempt.min(self.attempts.len() - 1)];
        sleep(time).await;
        outcome
    }
}

/// Tokio's clock, starting at zero: the measurements of a limiter depend on the position within a half second.
pub struct FromStart(pub Instant);

impl Clock for FromStart {
    fn now(&self) -> Timestamp {
        Timestamp::from_origin(self.0.elapsed())
    }
}

impl Timer for FromStart {
    type Sleep = <TokioTimer as Timer>::Sleep;

    fn sleep(&self, delay: Duration) -> Self::Sleep {
        TokioTimer.sleep(delay)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub max_time: Duration,
    pub attempt_timeout: Duration,
}

pub const NONE: Limits = Limits { max_time: Duration::MAX, attempt_timeout: Duration::MAX };

pub const fn max_time(max_time: Duration) -> Limits {
    Limits { max_time, ..NONE }
}

pub const fn attempt_timeout(attempt_timeout: Duration) -> Limits {
    Limits { attempt_timeout, ..NONE }
}

/// A policy that retries `Ok(0)` and every error that is not final.
pub fn judge(outcome: &Result<u32, Error>) -> RetryDirective {
    match outcome {
        Ok(0) => RetryDirective::retry(RetryErrorType::Other),
        Ok(_) => RetryDirective::succeed(),
        Err(error) if error.is_retry_safe() == RetrySafety::No => RetryDirective::fail(None),
        Err(error) => RetryDirective::retry(RetryErrorType::of(error)).after(error.retry_after()),
    }
}
