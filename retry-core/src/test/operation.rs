//! The record of an operation.

use crate::policy::RetryErrorType;
use crate::strategy::RetryError;
use std::fmt;
use std::time::Duration;

/// The record of an operation that ran under a [test guard](super::TestGuard).
///
/// `Display` lists its attempts, with the class of each failure and the delay after it, and says why there was no hedge.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operation {
    /// The name of the operation: the path of the function, or the name that was set.
    pub name: &'static str,
    /// The number of attempts that were made.
    pub attempts: u32,
    /// The class of each failed attempt, in order; `None` if the policy gave it no class. An error that nothing
    /// classifies has [`RetryErrorType::Unknown`].
    pub classes: Vec<Option<RetryErrorType>>,
    /// The delay of each scheduled retry, in order; it can be zero. The time for which it waited for the service is included, waits for a
    /// limiter are not.
    pub delays: Vec<Duration>,
    /// The time for which the operation waited for the service.
    pub waited: Duration,
    /// The reason why there was no further attempt; `None` after a success, and while the operation has not ended.
    pub reason: Option<RetryError>,
    /// Whether the operation has ended. An operation whose future was dropped never ends.
    pub has_ended: bool,
    /// Why an attempt had no hedge, if that was decided.
    pub(crate) no_hedge: Option<&'static str>,
}

impl Operation {
    pub(super) const fn new(name: &'static str) -> Self {
        Self {
            name,
            attempts: 0,
            classes: Vec::new(),
            delays: Vec::new(),
            waited: Duration::ZERO,
            reason: None,
            has_ended: false,
            no_hedge: None,
        }
    }

    /// Asserts that the operation has ended after this number of attempts and for this reason; `None` means a success.
    ///
    /// # Panics
    ///
    /// Panics if it has not. The message shows what was expected and what happened.
    #[track_caller]
    pub fn assert_ended(&self, attempts: u32, reason: Option<RetryError>) {
        assert!(
            self.has_ended && (self.attempts, self.reason) == (attempts, reason),
            "expected: {}\n  actual: {self}",
            End { attempts, reason, has_ended: true },
        );
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, attempts, classes, delays, reason, has_ended, no_hedge, waited: _ } = self;
        writeln!(f, "{}, operation `{name}`", End { attempts: *attempts, reason: *reason, has_ended: *has_ended })?;
        for (index, class) in classes.iter().enumerate() {
            write!(f, "    attempt {} failed ({})", index + 1, class.map_or("none", RetryErrorType::as_str))?;
            match delays.get(index) {
                Some(delay) => writeln!(f, ", then a delay of {delay:?}")?,
                None => writeln!(f)?,
            }
        }
        match no_hedge {
            // A guard begins as a new process, in which a quota by evidence sells none.
            Some("quota_low") => {
                writeln!(f, "    no hedge: quota_low; `begin().hedges().warm()` begins as after successes")
            }
            Some(reason) => writeln!(f, "    no hedge: {reason}"),
            None => Ok(()),
        }
    }
}

/// How an operation ended.
struct End {
    attempts: u32,
    reason: Option<RetryError>,
    has_ended: bool,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempts = if self.attempts == 1 { "attempt" } else { "attempts" };
        write!(f, "{} {attempts}, ", self.attempts)?;
        match self.reason {
            _ if !self.has_ended => f.write_str("not ended"),
            None => f.write_str("a success"),
            Some(reason) => write!(f, "stopped by {} ({reason})", reason.as_str()),
        }
    }
}
