//! A time limit or a deadline of the whole operation.

use super::stoppable::Stoppable;
use super::{LimitsOn, OutOfTime, TimeLimits, sealed};
use crate::operation::Stop;
use crate::strategy::RetryToken;
use crate::support::KeptOutcome;
use crate::time::{Clock, TimeLimit, TimedOut, Timer, Timestamp};
use std::ops::ControlFlow;
use std::time::Duration;

/// A time limit or a deadline of the whole operation, with an optional time limit on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct MaxTime {
    /// The time limit. When the operation starts, it is shortened to the time until the deadline.
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
    /// is already over, as with a limit of zero when the clock is read again.
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
        let passed = self.updated.map(|updated| now.saturating_since(updated)).unwrap_or_default();
        self.updated = Some(now);
        self.left = self.left.and_then(|left| left.checked_sub(passed));
        self.left
    }

    const fn timed_out(&self) -> TimedOut {
        TimedOut::new(self.limit, self.time)
    }
}

impl sealed::Sealed for MaxTime {}

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

    fn attempt_timeout(&self) -> Option<Duration> {
        self.attempt_timeout
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

    type WithStop<'s> = Stoppable<'s, Self>;

    fn with_stop(self, stop: &Stop) -> Stoppable<'_, Self> {
        Stoppable::new(self, stop)
    }
}

impl<R: OutOfTime> LimitsOn<R> for MaxTime {
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
