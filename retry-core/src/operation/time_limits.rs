//! Limits on the time of an operation and its attempts.

use crate::time::{Clock, TimeLimit, TimedOut, Timer, Timestamp};
use std::convert::Infallible;
use std::fmt::Debug;
use std::future::{Pending, pending};
use std::ops::ControlFlow;
use std::time::Duration;

/// An outcome that can say that there was none in time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't say that the time was up",
    label = "a function with a time limit returns a `Result` whose error implements `From<TimedOut>`",
    note = "write `impl From<TimedOut> for` the error type; as a variant, `#[retry(transparent)] TimedOut(TimedOut)` says what it means"
)]
pub trait OutOfTime {
    /// The outcome of an attempt that was cut.
    fn out_of_time(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TimedOut>> OutOfTime for Result<T, E> {
    fn out_of_time(timed_out: TimedOut) -> Self {
        Err(timed_out.into())
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Unlimited {}
    impl Sealed for super::AttemptTimeout {}
    impl Sealed for super::MaxTime {}
}

/// The time limits of an operation, which carries them along. This trait is sealed.
pub trait TimeLimits: Copy + sealed::Sealed {
    /// Whether there are none.
    #[doc(hidden)]
    const ARE_NONE: bool = false;

    /// What cuts an attempt, or keeps it from being made.
    #[doc(hidden)]
    type Cut: Copy + Debug + Unpin;

    /// Begins the operation.
    #[doc(hidden)]
    fn start(&mut self, clock: &impl Clock);

    /// Returns how much time the operation has left; `None` without a limit.
    #[doc(hidden)]
    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration>;

    /// Returns the limit that is over after this wait, if one is.
    #[doc(hidden)]
    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<Self::Cut>;

    /// Shortens a wait to the time that is left.
    ///
    /// # Errors
    ///
    /// If no time is left.
    #[doc(hidden)]
    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, Self::Cut>;

    /// Takes the time of a wait that a test skips.
    #[doc(hidden)]
    fn skip(&mut self, wait: Duration);

    /// Returns when an attempt is cut that begins when `remaining` was asked last, and by what.
    #[doc(hidden)]
    fn next_cut(&self) -> Option<(Duration, Self::Cut)>;

    /// The sleep until then. Without a limit, it has no size.
    #[doc(hidden)]
    type Sleep<Z: Future<Output = ()>>: Future<Output = ()>;

    /// Sleeps until then.
    #[doc(hidden)]
    fn sleep<T: Timer>(timer: &T, time: Duration) -> Self::Sleep<T::Sleep>;

    /// These limits with one on each attempt, which [`Retry::attempt_timeout`](crate::Retry::attempt_timeout) returns:
    /// [`AttemptTimeout`] for [`Unlimited`], else `Self`.
    type WithAttemptTimeout: TimeLimits;

    /// Sets the limit on each attempt.
    #[doc(hidden)]
    fn with_attempt_timeout(self, time: Duration) -> Self::WithAttemptTimeout;

    /// These limits in the form that can have one on the operation, too.
    #[doc(hidden)]
    fn with_operation(self) -> MaxTime;
}

/// Time limits of an operation whose outcomes are of type `R`. This trait is sealed.
pub trait LimitsOn<R>: TimeLimits {
    /// The last outcome, where it may be needed after a wait.
    #[doc(hidden)]
    type Last: Default;

    /// Keeps or drops an outcome that another attempt follows.
    #[doc(hidden)]
    fn keep(last: &mut Self::Last, outcome: R);

    /// Continues with the outcome of an attempt that was cut, or breaks off with the outcome of the operation.
    #[doc(hidden)]
    fn cut(cut: Self::Cut, last: &mut Self::Last) -> ControlFlow<R, R>;
}

/// The absence of time limits, which costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl TimeLimits for Unlimited {
    const ARE_NONE: bool = true;

    type Cut = Infallible;

    #[inline]
    fn start(&mut self, _: &impl Clock) {}

    #[inline]
    fn remaining(&mut self, _: &impl Clock) -> Option<Duration> {
        None
    }

    #[inline]
    fn is_over(&mut self, _: Duration, _: &impl Clock) -> Option<Infallible> {
        None
    }

    #[inline]
    fn shorten(&mut self, wait: Duration, _: &impl Clock) -> Result<Duration, Infallible> {
        Ok(wait)
    }

    #[inline]
    fn skip(&mut self, _: Duration) {}

    #[inline]
    fn next_cut(&self) -> Option<(Duration, Infallible)> {
        None
    }

    type Sleep<Z: Future<Output = ()>> = Pending<()>;

    fn sleep<T: Timer>(_: &T, _: Duration) -> Pending<()> {
        pending()
    }

    type WithAttemptTimeout = AttemptTimeout;

    fn with_attempt_timeout(self, time: Duration) -> AttemptTimeout {
        AttemptTimeout(time)
    }

    fn with_operation(self) -> MaxTime {
        MaxTime::new(Duration::MAX, None)
    }
}

impl<R> LimitsOn<R> for Unlimited {
    type Last = ();

    /// It is dropped before the wait.
    #[inline]
    fn keep((): &mut (), _: R) {}

    fn cut(cut: Infallible, (): &mut ()) -> ControlFlow<R, R> {
        match cut {}
    }
}

/// A limit on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptTimeout(pub(crate) Duration);

impl TimeLimits for AttemptTimeout {
    type Cut = TimedOut;

    fn start(&mut self, _: &impl Clock) {}

    fn remaining(&mut self, _: &impl Clock) -> Option<Duration> {
        None
    }

    fn is_over(&mut self, _: Duration, _: &impl Clock) -> Option<TimedOut> {
        None
    }

    fn shorten(&mut self, wait: Duration, _: &impl Clock) -> Result<Duration, TimedOut> {
        Ok(wait)
    }

    #[inline]
    fn skip(&mut self, _: Duration) {}

    fn next_cut(&self) -> Option<(Duration, TimedOut)> {
        Some((self.0, TimedOut::new(TimeLimit::Attempt, self.0)))
    }

    type Sleep<Z: Future<Output = ()>> = Z;

    fn sleep<T: Timer>(timer: &T, time: Duration) -> T::Sleep {
        timer.sleep(time)
    }

    type WithAttemptTimeout = Self;

    fn with_attempt_timeout(self, time: Duration) -> Self {
        Self(time)
    }

    fn with_operation(self) -> MaxTime {
        MaxTime::new(Duration::MAX, Some(self.0))
    }
}

impl<R: OutOfTime> LimitsOn<R> for AttemptTimeout {
    type Last = ();

    fn keep((): &mut (), _: R) {}

    fn cut(cut: TimedOut, (): &mut ()) -> ControlFlow<R, R> {
        ControlFlow::Continue(R::out_of_time(cut))
    }
}

/// A limit on the operation, by a time or a deadline, and perhaps one on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct MaxTime {
    /// The limit; from the beginning of the operation on, the time to the deadline if that is shorter.
    time: Duration,
    deadline: Option<Timestamp>,
    /// Which of the two it is.
    limit: TimeLimit,
    attempt_timeout: Option<Duration>,
    /// The time that is left; `None` once it is over.
    left: Option<Duration>,
    /// When that was updated; `None` before the operation begins.
    updated: Option<Timestamp>,
    /// Whether the first attempt is still to be made, and nothing was waited for. It is made even if the limit was over at
    /// once, as one of zero is by the time that the clock is read again.
    is_first: bool,
}

impl MaxTime {
    pub(crate) const fn new(time: Duration, attempt_timeout: Option<Duration>) -> Self {
        let (deadline, limit) = (None, TimeLimit::Operation);
        Self { time, deadline, limit, attempt_timeout, left: Some(time), updated: None, is_first: true }
    }

    pub(crate) const fn with_max_time(mut self, time: Duration) -> Self {
        self.time = time;
        self.left = Some(time);
        self
    }

    pub(crate) const fn with_deadline(mut self, deadline: Timestamp) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Returns the time that is left now. A clock that went backwards takes nothing, and gives nothing back.
    #[inline]
    fn update(&mut self, clock: &impl Clock) -> Option<Duration> {
        let now = clock.now();
        let passed = self.updated.map_or(Duration::ZERO, |updated| now.saturating_since(updated));
        self.updated = Some(now);
        self.left = self.left.and_then(|left| left.checked_sub(passed));
        self.left
    }

    const fn timed_out(&self) -> TimedOut {
        TimedOut::new(self.limit, self.time)
    }
}

impl TimeLimits for MaxTime {
    type Cut = TimedOut;

    fn start(&mut self, clock: &impl Clock) {
        let now = clock.now();
        self.updated = Some(now);
        if let Some(left) = self.deadline.map(|deadline| deadline.saturating_since(now))
            && left < self.time
        {
            (self.time, self.left, self.limit) = (left, Some(left), TimeLimit::Deadline);
        }
    }

    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration> {
        Some(self.update(clock).unwrap_or_default())
    }

    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<TimedOut> {
        let is_first = std::mem::take(&mut self.is_first);
        match self.update(clock) {
            Some(left) if wait <= left => None,
            _ if is_first && wait.is_zero() => None,
            _ => Some(self.timed_out()),
        }
    }

    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, TimedOut> {
        self.is_first = false;
        match self.update(clock) {
            Some(left) if !left.is_zero() => Ok(wait.min(left)),
            _ => Err(self.timed_out()),
        }
    }

    fn skip(&mut self, wait: Duration) {
        self.left = self.left.and_then(|left| left.checked_sub(wait));
    }

    fn next_cut(&self) -> Option<(Duration, TimedOut)> {
        let left = self.left.unwrap_or_default();
        Some(match self.attempt_timeout {
            Some(time) if time < left => (time, TimedOut::new(TimeLimit::Attempt, time)),
            _ => (left, self.timed_out()),
        })
    }

    type Sleep<Z: Future<Output = ()>> = Z;

    fn sleep<T: Timer>(timer: &T, time: Duration) -> T::Sleep {
        timer.sleep(time)
    }

    type WithAttemptTimeout = Self;

    fn with_attempt_timeout(mut self, time: Duration) -> Self {
        self.attempt_timeout = Some(time);
        self
    }

    fn with_operation(self) -> MaxTime {
        self
    }
}

impl<R: OutOfTime> LimitsOn<R> for MaxTime {
    type Last = Option<R>;

    fn keep(last: &mut Option<R>, outcome: R) {
        *last = Some(outcome);
    }

    fn cut(cut: TimedOut, last: &mut Option<R>) -> ControlFlow<R, R> {
        match cut.limit() {
            TimeLimit::Attempt => ControlFlow::Continue(R::out_of_time(cut)),
            TimeLimit::Operation | TimeLimit::Deadline => {
                ControlFlow::Break(last.take().unwrap_or_else(|| R::out_of_time(cut)))
            }
        }
    }
}
