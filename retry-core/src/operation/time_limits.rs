//! Time limits of an operation and its attempts.

use super::attempt::RunAttempt;
use super::long_polling::{LongPolling, RefusedPoll};
use crate::policy::RetryErrorType;
use crate::strategy::RetryError;
use crate::time::{Clock, TimeLimit, TimedOut, Timer, Timestamp};
use std::convert::Infallible;
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// An outcome type that can represent an attempt without an outcome in time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't say that the time was up",
    label = "a function with a time limit returns a `Result` whose error implements `From<TimedOut>`",
    note = "for an error type of your own, write `impl From<TimedOut> for` it; as a variant, `#[retry(transparent)] TimedOut(TimedOut)` says what it means",
    note = "a foreign error type can't be given this impl: return an error of your own that wraps it, or for a client the `ClientError` of its module in retry-clients, such as `redis1::ClientError`; `anyhow::Error` and `Box<dyn Error>` have it",
    note = "a blocking function needs it, too: a wait for a limiter can last until the time is over, before the first attempt"
)]
pub trait OutOfTime {
    /// Creates the outcome of an attempt that was cut.
    fn out_of_time(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TimedOut>> OutOfTime for Result<T, E> {
    fn out_of_time(timed_out: TimedOut) -> Self {
        Err(timed_out.into())
    }
}

pub(super) mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}

    impl Sealed for super::Unlimited {}
    impl Sealed for super::AttemptTimeout {}
    impl Sealed for super::MaxTime {}
}

/// The time limits of an operation, and their state. This trait is sealed.
pub trait TimeLimits: Copy + RunAttempt<CutBy = Self::Cut> + sealed::Sealed {
    /// The limit that cuts or prevents an attempt.
    #[doc(hidden)]
    type Cut: Copy + Debug + Unpin;

    /// Starts the limits when the operation begins.
    #[doc(hidden)]
    fn start(&mut self, clock: &impl Clock);

    /// Returns the time that the operation has left; `None` means no limit.
    #[doc(hidden)]
    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration>;

    /// Returns the limit that will be over after this wait, if any.
    #[doc(hidden)]
    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<Self::Cut>;

    /// Shortens a wait to the time that is left.
    ///
    /// # Errors
    ///
    /// Returns the limit if no time is left.
    #[doc(hidden)]
    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, Self::Cut>;

    /// Subtracts a wait that a test guard skips from the time that is left.
    #[doc(hidden)]
    fn skip(&mut self, wait: Duration);

    /// Returns the time limit of the next attempt and the cut at its end, if there is one. The time counts from the
    /// last call of `remaining`.
    #[doc(hidden)]
    fn next_cut(&self) -> Option<(Duration, Self::Cut)>;

    /// The sleep until an attempt is cut. It has no values if there are no limits.
    #[doc(hidden)]
    type Sleep<Z: Future<Output = ()>>: Future<Output = ()>;

    /// Returns the sleep until this limit cuts an attempt. There is none if it cuts no attempt that has begun.
    #[doc(hidden)]
    fn sleep<T: Timer>(timer: &T, time: Duration, cut: Self::Cut) -> Option<Self::Sleep<T::Sleep>>;

    /// Whether the operation waits before it returns if the quota refuses a retry.
    #[doc(hidden)]
    const IS_LONG_POLLING: bool = false;

    /// Keeps a failure whose retry the quota refused. Called with long polling only.
    #[doc(hidden)]
    fn refuse(&mut self, _: RefusedPoll) {}

    /// Returns the failure whose retry the quota refused, and the reason why no attempt follows its wait.
    #[doc(hidden)]
    #[inline]
    fn refused(&self) -> Option<(RefusedPoll, Self::Cut)> {
        None
    }

    /// Returns the reason of an operation whose next attempt was cut or prevented, and the class of its last failure, if
    /// that is the reason.
    #[doc(hidden)]
    #[inline]
    fn end(&self) -> (RetryError, Option<RetryErrorType>) {
        (RetryError::MaxTime, None)
    }

    /// The type of these limits after [`Retry::attempt_timeout`](crate::Retry::attempt_timeout): [`AttemptTimeout`] for
    /// [`Unlimited`], otherwise `Self`.
    type WithAttemptTimeout: TimeLimits;

    /// Sets the limit on each attempt.
    #[doc(hidden)]
    fn with_attempt_timeout(self, time: Duration) -> Self::WithAttemptTimeout;

    /// The type of these limits after [`Retry::max_time`](crate::Retry::max_time) or
    /// [`Retry::deadline`](crate::Retry::deadline): [`MaxTime`], or [`LongPolling`] with it.
    type WithMaxTime: TimeLimits;

    /// Sets the limit on the whole operation.
    #[doc(hidden)]
    fn with_max_time(self, time: Duration) -> Self::WithMaxTime;

    /// Sets the deadline of the whole operation.
    #[doc(hidden)]
    fn with_deadline(self, deadline: Timestamp) -> Self::WithMaxTime;

    /// The type of these limits after [`Retry::long_polling`](crate::Retry::long_polling): [`LongPolling`].
    type WithLongPolling: TimeLimits;

    /// Adds long polling.
    #[doc(hidden)]
    fn with_long_polling(self) -> Self::WithLongPolling;
}

/// Time limits of an operation with outcomes of type `R`. This trait is sealed.
pub trait LimitsOn<R>: TimeLimits {
    /// The last outcome, if the limits may need it after a wait.
    #[doc(hidden)]
    type Last: Default;

    /// Keeps or drops the outcome of an attempt that another attempt follows.
    #[doc(hidden)]
    fn keep(last: &mut Self::Last, outcome: R);

    /// Takes the last outcome out, if it was kept.
    #[doc(hidden)]
    fn take(last: &mut Self::Last) -> Option<R>;

    /// Returns [`ControlFlow::Continue`] with the outcome of an attempt that was cut, or [`ControlFlow::Break`] with
    /// the outcome of the operation, for which `last` takes the last outcome.
    #[doc(hidden)]
    fn cut(cut: Self::Cut, last: impl FnOnce() -> Option<R>) -> ControlFlow<R, R>;
}

/// The absence of time limits, which costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl TimeLimits for Unlimited {
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

    type Sleep<Z: Future<Output = ()>> = NoSleep;

    fn sleep<T: Timer>(_: &T, _: Duration, cut: Infallible) -> Option<NoSleep> {
        match cut {}
    }

    type WithAttemptTimeout = AttemptTimeout;

    fn with_attempt_timeout(self, time: Duration) -> AttemptTimeout {
        AttemptTimeout(time)
    }

    type WithMaxTime = MaxTime;

    fn with_max_time(self, time: Duration) -> MaxTime {
        MaxTime::new(time, None)
    }

    fn with_deadline(self, deadline: Timestamp) -> MaxTime {
        MaxTime::new(Duration::MAX, None).with_deadline(deadline)
    }

    type WithLongPolling = LongPolling<Self>;

    fn with_long_polling(self) -> LongPolling<Self> {
        LongPolling::new(self)
    }
}

/// The sleep until an attempt without a limit is cut: there is none.
#[derive(Debug)]
pub enum NoSleep {}

impl Future for NoSleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        match *self {}
    }
}

impl<R> LimitsOn<R> for Unlimited {
    type Last = ();

    /// Drops the outcome before the wait.
    #[inline]
    fn keep((): &mut (), _: R) {}

    fn take((): &mut ()) -> Option<R> {
        None
    }

    fn cut(cut: Infallible, _: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        match cut {}
    }
}

/// A time limit on each attempt.
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

    fn sleep<T: Timer>(timer: &T, time: Duration, _: TimedOut) -> Option<T::Sleep> {
        Some(timer.sleep(time))
    }

    type WithAttemptTimeout = Self;

    fn with_attempt_timeout(self, time: Duration) -> Self {
        Self(time)
    }

    type WithMaxTime = MaxTime;

    fn with_max_time(self, time: Duration) -> MaxTime {
        MaxTime::new(time, Some(self.0))
    }

    fn with_deadline(self, deadline: Timestamp) -> MaxTime {
        MaxTime::new(Duration::MAX, Some(self.0)).with_deadline(deadline)
    }

    type WithLongPolling = LongPolling<Self>;

    fn with_long_polling(self) -> LongPolling<Self> {
        LongPolling::new(self)
    }
}

impl<R: OutOfTime> LimitsOn<R> for AttemptTimeout {
    type Last = ();

    fn keep((): &mut (), _: R) {}

    fn take((): &mut ()) -> Option<R> {
        None
    }

    fn cut(cut: TimedOut, _: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        ControlFlow::Continue(R::out_of_time(cut))
    }
}

/// A time limit or a deadline of the whole operation, with an optional time limit on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct MaxTime {
    /// The time limit. From the start of the operation on, it is the time until the deadline if that is shorter.
    time: Duration,
    deadline: Option<Timestamp>,
    /// Whether `time` comes from the time limit or from the deadline.
    limit: TimeLimit,
    attempt_timeout: Option<Duration>,
    /// The time that is left; `None` once it is over.
    left: Option<Duration>,
    /// The time at which `left` was updated; `None` before the operation begins.
    updated: Option<Timestamp>,
    /// Whether the operation has neither made an attempt nor waited. In this case the attempt is made even if the limit
    /// is over already, as a limit of zero is when the clock is read again.
    is_first: bool,
}

impl MaxTime {
    pub(crate) const fn new(time: Duration, attempt_timeout: Option<Duration>) -> Self {
        let (deadline, limit) = (None, TimeLimit::Operation);
        Self { time, deadline, limit, attempt_timeout, left: Some(time), updated: None, is_first: true }
    }

    /// Updates and returns the time that is left; `None` if the limit is over. If the clock was set back, the time that
    /// is left does not change.
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

    fn sleep<T: Timer>(timer: &T, time: Duration, _: TimedOut) -> Option<T::Sleep> {
        Some(timer.sleep(time))
    }

    type WithAttemptTimeout = Self;

    fn with_attempt_timeout(mut self, time: Duration) -> Self {
        self.attempt_timeout = Some(time);
        self
    }

    type WithMaxTime = Self;

    fn with_max_time(mut self, time: Duration) -> Self {
        self.time = time;
        self.left = Some(time);
        self
    }

    fn with_deadline(mut self, deadline: Timestamp) -> Self {
        self.deadline = Some(deadline);
        self
    }

    type WithLongPolling = LongPolling<Self>;

    fn with_long_polling(self) -> LongPolling<Self> {
        LongPolling::new(self)
    }
}

impl<R: OutOfTime> LimitsOn<R> for MaxTime {
    type Last = Option<R>;

    fn keep(last: &mut Option<R>, outcome: R) {
        *last = Some(outcome);
    }

    fn take(last: &mut Option<R>) -> Option<R> {
        last.take()
    }

    fn cut(cut: TimedOut, last: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        match cut.limit() {
            TimeLimit::Attempt => ControlFlow::Continue(R::out_of_time(cut)),
            TimeLimit::Operation | TimeLimit::Deadline => {
                ControlFlow::Break(last().unwrap_or_else(|| R::out_of_time(cut)))
            }
        }
    }
}
