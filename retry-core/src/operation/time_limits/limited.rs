//! Limits on the time of an operation and of its attempts, and the handle that can stop it.

use super::{LimitsOn, OutOfTime, TimeLimits, sealed};
use crate::operation::Stop;
use crate::strategy::{RetryError, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, TimeLimit, TimedOut, Timer, Timestamp};
use std::ops::ControlFlow;
use std::time::Duration;

/// The limits of an operation: a time limit or a deadline, a time limit on each attempt, and a [`Stop`]. Each one is optional. `H` is
/// `&Stop` if there is one.
// With a lifetime in place of `H`, rustc can't prove that spawned stacks of tower are `Send`.
#[derive(Clone, Copy, Debug)]
pub struct Limited<H = ()> {
    attempt_timeout: Option<Duration>,
    /// The time limit of the operation. When the operation starts, it is shortened to the time until the deadline.
    max_time: Option<Duration>,
    deadline: Option<Timestamp>,
    /// Whether `max_time` comes from the time limit or from the deadline.
    limit: TimeLimit,
    /// The time that is left of `max_time`; `None` once it is over.
    left: Option<Duration>,
    /// The time at which `left` was updated; `None` before the operation begins.
    updated: Option<Timestamp>,
    /// Whether the operation has neither made an attempt nor waited. In this case the attempt is made even if the limit
    /// is already over, as with a limit of zero when the clock is read again.
    is_first: bool,
    stop: H,
    /// Whether the stop prevented an attempt.
    was_stopped: bool,
}

/// The handle that can stop an operation, or `()`.
pub trait StopHandle: Copy + std::fmt::Debug {
    /// Returns the handle.
    fn get(&self) -> Option<&Stop>;
}

impl StopHandle for () {
    #[inline]
    fn get(&self) -> Option<&Stop> {
        None
    }
}

impl StopHandle for Option<&Stop> {
    #[inline]
    fn get(&self) -> Option<&Stop> {
        *self
    }
}

impl StopHandle for &Stop {
    #[inline]
    fn get(&self) -> Option<&Stop> {
        Some(self)
    }
}

impl Limited {
    pub(crate) const fn new() -> Self {
        Self {
            attempt_timeout: None,
            max_time: None,
            deadline: None,
            limit: TimeLimit::Operation,
            left: None,
            updated: None,
            is_first: true,
            stop: (),
            was_stopped: false,
        }
    }
}

impl<H: StopHandle> Limited<H> {
    /// Sets the handle that can stop the operation.
    pub(crate) fn with_handle<J>(self, stop: J) -> Limited<J> {
        let Self { attempt_timeout, max_time, deadline, limit, left, updated, is_first, stop: _, was_stopped } = self;
        Limited { attempt_timeout, max_time, deadline, limit, left, updated, is_first, stop, was_stopped }
    }

    /// Updates and returns the time that is left; `None` if the limit is over. If the clock was set back, the time that
    /// is left does not change.
    #[inline]
    fn update(&mut self, clock: &impl Clock) -> Option<Duration> {
        let now = clock.now();
        let passed = self.updated.map(|updated| now.saturating_since(updated)).unwrap_or_default();
        self.updated = Some(now);
        self.left = self.left.and_then(|left| left.checked_sub(passed));
        self.left
    }

    /// Returns the cut at the end of this limit on the operation.
    const fn over(&self, max_time: Duration) -> TimedOut {
        TimedOut::new(self.limit, max_time)
    }

    /// Returns the cut of an operation that was stopped, and remembers it.
    #[inline]
    fn stopped(&mut self) -> Option<TimedOut> {
        if !self.stop.get().is_some_and(Stop::is_stopped) {
            return None;
        }
        self.was_stopped = true;
        Some(TimedOut::new(TimeLimit::Stop, Duration::ZERO))
    }
}

impl<H: StopHandle> sealed::Sealed for Limited<H> {}

impl<H: StopHandle> TimeLimits for Limited<H> {
    type Cut = TimedOut;

    fn start(&mut self, clock: &impl Clock) {
        if self.max_time.is_none() && self.deadline.is_none() {
            return;
        }
        let now = clock.now();
        self.updated = Some(now);
        if let Some(left) = self.deadline.map(|deadline| deadline.saturating_since(now))
            && self.max_time.is_none_or(|max_time| left < max_time)
        {
            (self.max_time, self.left, self.limit) = (Some(left), Some(left), TimeLimit::Deadline);
        }
    }

    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration> {
        self.max_time.map(|_| self.update(clock).unwrap_or_default())
    }

    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<TimedOut> {
        if let Some(stopped) = self.stopped() {
            return Some(stopped);
        }
        let is_first = std::mem::take(&mut self.is_first);
        let max_time = self.max_time?;
        match self.update(clock) {
            Some(left) if wait <= left => None,
            _ if is_first && wait.is_zero() => None,
            _ => Some(self.over(max_time)),
        }
    }

    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, TimedOut> {
        if let Some(stopped) = self.stopped() {
            return Err(stopped);
        }
        self.is_first = false;
        let Some(max_time) = self.max_time else { return Ok(wait) };
        match self.update(clock) {
            Some(left) if !left.is_zero() => Ok(wait.min(left)),
            _ => Err(self.over(max_time)),
        }
    }

    fn skip(&mut self, wait: Duration) {
        self.left = self.left.and_then(|left| left.checked_sub(wait));
    }

    fn next_cut(&self) -> Option<(Duration, TimedOut)> {
        let attempt = |time| (time, TimedOut::new(TimeLimit::Attempt, time));
        let Some(max_time) = self.max_time else { return self.attempt_timeout.map(attempt) };
        let left = self.left.unwrap_or_default();
        Some(match self.attempt_timeout {
            Some(time) if time < left => attempt(time),
            _ => (left, self.over(max_time)),
        })
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        self.attempt_timeout
    }

    type Sleep<Z: Future<Output = ()>> = Z;

    fn sleep<T: Timer>(timer: &T, time: Duration, _: TimedOut) -> Option<T::Sleep> {
        Some(timer.sleep(time))
    }

    fn stop(&self) -> Option<&Stop> {
        self.stop.get()
    }

    fn reason(&self) -> RetryError {
        if self.was_stopped { RetryError::Stopped } else { RetryError::MaxTime }
    }

    type Limited = Self;

    fn with_attempt_timeout(self, time: Duration) -> Self {
        Self { attempt_timeout: Some(time), ..self }
    }

    fn with_max_time(self, time: Duration) -> Self {
        Self { max_time: Some(time), left: Some(time), ..self }
    }

    fn with_deadline(self, deadline: Timestamp) -> Self {
        Self { deadline: Some(deadline), ..self }
    }

    fn with_stop(self, stop: &Stop) -> Limited<&Stop> {
        self.with_handle(stop)
    }
}

impl<R: OutOfTime, H: StopHandle> LimitsOn<R> for Limited<H> {
    fn kept_outcome<K: RetryToken>() -> impl KeptOutcome<R> {
        None::<R>
    }

    fn cut(cut: TimedOut, last: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        match cut.limit() {
            TimeLimit::Attempt => ControlFlow::Continue(R::out_of_time(cut)),
            TimeLimit::Operation | TimeLimit::Deadline | TimeLimit::Stop => {
                ControlFlow::Break(last().unwrap_or_else(|| R::out_of_time(cut)))
            }
        }
    }
}
