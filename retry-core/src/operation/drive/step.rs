//! The steps of a driver by hand.

use crate::observe::Report;
use crate::strategy::RetryError;
use crate::time::TimedOut;
use std::fmt;
use std::time::Duration;

/// The next step of a driver. [`Operation::next`](super::Operation::next) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Wait this long, or until the waker is woken, and ask again. Under a test guard, waits have no length.
    Wait(Duration),
    /// Make an attempt.
    #[non_exhaustive]
    Attempt {
        /// The time that the attempt may take; `None` without a limit. If the attempt takes longer, drop it, and call
        /// [`Operation::cut`](super::Operation::cut).
        time_left: Option<Duration>,
    },
    /// Return what [`Ended::last_or`] says: the last outcome, or one that says that the time is over.
    Stop(Ended),
}

/// What follows an outcome. [`Operation::settle`](super::Operation::settle) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// Another attempt may follow: keep the outcome, and ask for the [next step](super::Operation::next).
    Retry,
    /// The outcome is final.
    Done(Ended),
}

/// What follows an attempt that took too long. [`Operation::cut`](super::Operation::cut) returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The attempt was cut by its own limit. Convert this to an outcome, and [settle](super::Operation::settle) it.
    Attempt(TimedOut),
    /// The operation is over. Return what [`Ended::last_or`] says.
    Operation(Ended),
}

/// How an operation ended.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// The number of attempts.
    pub attempts: u32,
    /// The reason why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The time from the beginning to the end. Zero after [`without_elapsed`](super::OperationBuilder::without_elapsed).
    pub elapsed: Duration,
    /// The time for which the operation waited for the service.
    pub waited: Duration,
    /// The limit that ended the operation.
    pub timed_out: Option<TimedOut>,
    pub(super) supersedes_last: bool,
}

impl Ended {
    /// Returns the outcome of an operation that ended without one: the last outcome, if there is one, or what `make` makes of the limit that
    /// ended the operation. If the limit cut an attempt that must not be carried out twice, by the policy of
    /// [`evaluate`](super::Operation::evaluate), the last outcome is not used: it would say nothing about that attempt.
    pub fn last_or<R>(&self, last: Option<R>, make: impl FnOnce(TimedOut) -> Option<R>) -> Option<R> {
        last.filter(|_| !self.supersedes_last).or_else(|| self.timed_out.and_then(make))
    }

    /// Returns the report of the operation, with the outcome that it returns.
    pub fn report<R>(self, outcome: R) -> Report<R> {
        let Self { attempts, reason, elapsed, waited, timed_out: _, supersedes_last: _ } = self;
        Report { outcome, attempts, reason, waited, elapsed }
    }
}

/// Shows the public fields.
impl fmt::Debug for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { attempts, reason, elapsed, waited, timed_out, supersedes_last: _ } = self;
        f.debug_struct("Ended")
            .field("attempts", attempts)
            .field("reason", reason)
            .field("elapsed", elapsed)
            .field("waited", waited)
            .field("timed_out", timed_out)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::Ended;
    use std::time::Duration;

    #[test]
    fn the_debug_text_of_an_end_has_the_public_fields() {
        let ended = Ended {
            attempts: 2,
            reason: None,
            elapsed: Duration::from_secs(3),
            waited: Duration::ZERO,
            timed_out: None,
            supersedes_last: true,
        };
        let text = "Ended { attempts: 2, reason: None, elapsed: 3s, waited: 0ns, timed_out: None, .. }";
        assert_eq!(format!("{ended:?}"), text);
    }
}
