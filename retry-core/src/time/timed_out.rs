//! The error of an attempt or operation that exceeded its time limit.

use crate::error::{ErrorInfo, RetryInfo};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The error of an attempt or operation that exceeded its time limit.
///
/// An operation with an `attempt_timeout`, `max_time` or `deadline` converts this error into its own error type, which
/// must implement `From<TimedOut>`. As a [`RetryInfo`], the error is a timeout with
/// [`RetrySafety::Maybe`](crate::RetrySafety::Maybe), because the request may have been acted upon, and with
/// [`ErrorFault::Other`](crate::ErrorFault::Other).
///
/// ```
/// use retry_core::{RetryInfo, TimedOut};
///
/// #[derive(Debug, RetryInfo)]
/// enum StoreError {
///     #[retry(throttling)]
///     SlowDown,
///     #[retry(transparent)]
///     NoAnswer(TimedOut),
/// }
///
/// impl From<TimedOut> for StoreError {
///     fn from(error: TimedOut) -> Self {
///         Self::NoAnswer(error)
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimedOut {
    limit: TimeLimit,
    time: Duration,
    was_cut: bool,
}

/// The time limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeLimit {
    /// The limit on one attempt: `attempt_timeout`.
    Attempt,
    /// The limit on the whole operation: `max_time`.
    Operation,
    /// The point in time at which the whole operation must be over: `deadline`.
    Deadline,
    /// The operation was stopped before it had an outcome: [`Stop`](crate::Stop).
    Stop,
}

impl TimedOut {
    /// Creates the error of a limit that [cut an attempt](TimedOut::was_attempt_cut), for tests.
    #[cfg(feature = "test")]
    pub const fn new(limit: TimeLimit, time: Duration) -> Self {
        Self { limit, time, was_cut: true }
    }

    #[cfg(not(feature = "test"))]
    pub(crate) const fn new(limit: TimeLimit, time: Duration) -> Self {
        Self { limit, time, was_cut: true }
    }

    /// Returns the error of the same limit if it was exceeded before an attempt was sent, for tests.
    #[cfg(feature = "test")]
    #[must_use]
    pub const fn before_attempt(self) -> Self {
        Self { was_cut: false, ..self }
    }

    #[cfg(not(feature = "test"))]
    pub(crate) const fn before_attempt(self) -> Self {
        Self { was_cut: false, ..self }
    }

    /// Returns which limit was exceeded.
    pub const fn limit(&self) -> TimeLimit {
        self.limit
    }

    /// Returns whether an attempt was cut, so that its request may have been carried out. Otherwise the time was over, or the operation was
    /// stopped, before the attempt was sent.
    pub const fn was_attempt_cut(&self) -> bool {
        self.was_cut
    }

    /// Returns the duration of the limit. For a deadline, it is the time from the start of the operation to the
    /// deadline, and for a stop zero.
    pub const fn time(&self) -> Duration {
        self.time
    }
}

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, option) = match self.limit {
            TimeLimit::Attempt => ("the attempt", "attempt_timeout"),
            TimeLimit::Operation => ("the operation", "max_time"),
            TimeLimit::Deadline => ("the operation", "deadline"),
            TimeLimit::Stop => return f.write_str("the operation was stopped before it had an outcome"),
        };
        write!(f, "{what} had no outcome within {:?} (`{option}`)", self.time)
    }
}

impl Error for TimedOut {}

impl ErrorInfo for TimedOut {}

/// An error of the kind [`TimedOut`](std::io::ErrorKind::TimedOut).
impl From<TimedOut> for std::io::Error {
    fn from(error: TimedOut) -> Self {
        Self::new(std::io::ErrorKind::TimedOut, error)
    }
}

impl RetryInfo for TimedOut {
    fn is_timeout(&self) -> bool {
        true
    }

    fn as_error(&self) -> Option<&(dyn Error + '_)> {
        Some(self)
    }
}
