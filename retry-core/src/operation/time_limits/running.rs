//! The time limits of an operation that runs.

use super::sealed;
use crate::operation::{AttemptSleep, RunAttempt, Stop};
use crate::strategy::{RetryError, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, TimedOut, Timer};
use std::fmt::Debug;
use std::num::NonZeroU32;
use std::time::Duration;

/// The time limits of an operation that runs, and their state. This trait is sealed.
pub trait RunningLimits: RunAttempt<CutBy = Self::Cut> + sealed::Sealed {
    /// Whether there can be a limit on time, so that the clock is read.
    const IS_TIMED: bool;

    /// Whether a driver of its own runs between the steps of the operation, which may take time.
    const IS_BY_HAND: bool = false;

    /// The limit that cuts or prevents an attempt.
    type Cut: Copy + Debug + Unpin;

    /// Returns the error of this limit.
    fn timed_out(cut: Self::Cut) -> TimedOut;

    /// Returns whether this is the limit of one attempt, and not that of the whole operation.
    fn is_of_attempt(cut: Self::Cut) -> bool;

    /// Returns the place for the last outcome, for an operation with tokens of this type.
    fn kept_outcome<R, K: RetryToken>() -> impl KeptOutcome<R>;

    /// Starts the limits when the operation begins.
    fn start(&mut self, clock: &impl Clock);

    /// Returns the time that the operation has left; `None` means no limit.
    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration>;

    /// Returns the limit that will be over after this wait, if any.
    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<Self::Cut>;

    /// Begins the first attempt, which is made even if the limit is over already. Returns the stop that prevents it, if any. Unlike
    /// `is_over`, it reads no clock.
    fn begin_first(&mut self) -> Option<Self::Cut>;

    /// Shortens a wait to the time that is left.
    ///
    /// # Errors
    ///
    /// Returns the limit if no time is left.
    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, Self::Cut>;

    /// Subtracts a wait that a test guard skips from the time that is left.
    fn skip(&mut self, wait: Duration);

    /// Returns the time limit of the next attempt and the cut at its end, if there is one. The time counts from the
    /// last call of `start` or `remaining`.
    fn next_cut(&self) -> Option<(Duration, Self::Cut)>;

    /// Returns the time limit of each attempt, if there is one.
    #[inline]
    fn attempt_timeout(&self) -> Option<Duration> {
        None
    }

    /// Returns the number of attempts that the operation itself allows, if there is one.
    #[inline]
    fn max_attempts(&self) -> Option<NonZeroU32> {
        None
    }

    /// Returns whether the operation itself, and not its strategy, allows no attempt after the one with this number.
    #[inline]
    fn allows_no_more_than(&self, attempt: u32) -> bool {
        self.max_attempts().is_some_and(|most| attempt >= most.get())
    }

    /// Remembers whether its own limit has cut the attempt that ended last.
    #[inline]
    fn note_cut(&mut self, _: bool) {}

    /// Returns whether its own limit has cut the attempt that ended last.
    #[inline]
    fn was_cut(&self) -> bool {
        false
    }

    /// Remembers whether the operation must not be carried out twice.
    #[inline]
    fn note_once(&mut self, _: bool) {}

    /// Returns whether the last outcome must not be returned after this cut, because the attempt that was cut may have been carried out.
    #[inline]
    fn supersedes_last(&self, _: Self::Cut) -> bool {
        false
    }

    /// The sleep until an attempt is cut. It has no values if there are no limits.
    type Sleep<Z: Future<Output = ()>>: AttemptSleep<Self::Cut>;

    /// Returns the sleep until an attempt is cut, whose time limit is `next`. There is none if nothing cuts it, or if no time is left. The
    /// limits have read the clock just now, for `next`.
    fn sleep<T: Timer>(&self, timer: &T, next: Option<(Duration, Self::Cut)>) -> Option<Self::Sleep<T::Sleep>>;

    /// Returns the handles that can stop the operation.
    #[inline]
    fn stops(&self) -> [Option<&Stop>; 2] {
        [None, None]
    }

    /// Returns whether the operation was stopped.
    #[inline]
    fn is_stopped(&self) -> bool {
        self.stops().into_iter().flatten().any(Stop::is_stopped)
    }

    /// Returns the reason of an operation whose next attempt was cut or prevented.
    #[inline]
    fn reason(&self) -> RetryError {
        RetryError::MaxTime
    }
}
