//! The error of an attempt that had no outcome in time.

use crate::error::{ErrorInfo, RetryInfo};
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The error of an attempt that had no outcome in time.
///
/// An operation with an `attempt_timeout` or a `max_time` converts it into its own error type, which therefore implements
/// `From<TimedOut>`. It is a timeout, the request may or may not have been acted upon
/// ([`RetrySafety::Maybe`](crate::RetrySafety::Maybe)), and the fault is [`ErrorFault::Other`](crate::ErrorFault::Other).
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
}

/// The time limit that was over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TimeLimit {
    /// The limit on one attempt, `attempt_timeout`.
    Attempt,
    /// The limit on the whole operation, `max_time`.
    Operation,
    /// The point in time at which the whole operation must be over, `deadline`.
    Deadline,
}

impl TimedOut {
    /// Creates the error of a limit that was over, to test what is made of it.
    #[cfg(feature = "test")]
    pub const fn new(limit: TimeLimit, time: Duration) -> Self {
        Self { limit, time }
    }

    #[cfg(not(feature = "test"))]
    pub(crate) const fn new(limit: TimeLimit, time: Duration) -> Self {
        Self { limit, time }
    }

    /// Returns which limit was over.
    pub const fn limit(&self) -> TimeLimit {
        self.limit
    }

    /// Returns how long that limit was: from the beginning of the operation if it was a deadline.
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
        };
        write!(f, "{what} had no outcome within {:?} (`{option}`)", self.time)
    }
}

impl Error for TimedOut {}

impl ErrorInfo for TimedOut {}

impl RetryInfo for TimedOut {
    fn is_timeout(&self) -> bool {
        true
    }
}
