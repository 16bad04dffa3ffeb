//! The report of one operation.

use crate::strategy::RetryError;
use std::time::Duration;

/// The report of one operation: its outcome, and how it came about.
///
/// [`Retry::report`](crate::Retry::report) returns a report. In the attribute, `on_end = |report| ..` gets a report whose
/// outcome is a reference.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "test"), non_exhaustive)]
pub struct Report<R> {
    /// The last outcome, unchanged.
    pub outcome: R,
    /// The number of attempts. It is 0 if the operation ended before its first attempt, for example because `max_time` or `deadline` was
    /// over or a [stop](crate::Stop) had come.
    pub attempts: u32,
    /// The reason why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The time for which the operation [waited for the service](crate::PatientRetryStrategy), all its waits together.
    pub waited: Duration,
    /// The time from the start of the operation to the last outcome, waits included, by the clock of the timer. An
    /// async operation starts with its first poll.
    pub elapsed: Duration,
}
