//! The report of one operation.

use crate::strategy::RetryError;
use std::time::Duration;

/// What became of one operation: all that the outcome alone doesn't tell.
///
/// [`Retry::report`](crate::Retry::report) gives one.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "test"), non_exhaustive)]
pub struct Report<R> {
    /// The last outcome, untouched.
    pub outcome: R,
    /// How many attempts were made. At least one, unless a limiter held the first one back until the time was up.
    pub attempts: u32,
    /// Why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The time from the first poll to the last outcome, waits included, by the clock of the timer.
    pub elapsed: Duration,
}
