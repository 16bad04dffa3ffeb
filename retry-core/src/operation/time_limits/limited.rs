//! Limits on the time of an operation and of its attempts, and the handle that can stop it.

use super::{CutOnStop, LimitsOn, OutOfTime, OwnStop, RunningLimits, StopHandle, TimeLimits, sealed};
use crate::operation::{Attempt, AttemptSleep, Deadline, RunAttempt, Stop};
use crate::strategy::{RetryError, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, Reading, TimeLimit, TimedOut, Timer, Timestamp};
use std::num::NonZeroU32;
use std::pin::{Pin, pin};
use std::sync::Arc;
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
    updated: Option<Reading>,
    /// Whether the operation has neither made an attempt nor waited. In this case the attempt is made even if the limit
    /// is already over, as with a limit of zero when the clock is read again.
    is_first: bool,
    stop: H,
    /// Whether the stop prevented an attempt.
    was_stopped: bool,
    /// Whether its own limit has cut the attempt that ended last.
    was_cut: bool,
    executions: Executions,
    /// The number of attempts that the operation itself allows, if there is one.
    max_attempts: Option<NonZeroU32>,
}

/// How often the operation may be carried out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Executions {
    /// The last outcome is returned, also if a later attempt was cut.
    Any,
    /// The outcome before an attempt that was cut is not returned, because it does not say whether that attempt was carried out.
    Once,
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
            was_cut: false,
            executions: Executions::Any,
            max_attempts: None,
        }
    }
}

impl<H: StopHandle> Limited<H> {
    /// Sets the handle that can stop the operation.
    pub(crate) fn with_handle<J>(self, stop: J) -> Limited<J> {
        let Self {
            attempt_timeout,
            max_time,
            deadline,
            limit,
            left,
            updated,
            is_first,
            stop: _,
            was_stopped,
            was_cut,
            executions,
            max_attempts,
        } = self;
        Limited {
            attempt_timeout,
            max_time,
            deadline,
            limit,
            left,
            updated,
            is_first,
            stop,
            was_stopped,
            was_cut,
            executions,
            max_attempts,
        }
    }

    /// Adds the operation's own handle, beside one that was set.
    pub(crate) fn with_own<P>(self, own: P) -> Limited<OwnStop<P, H>> {
        let other = self.stop.clone();
        self.with_handle(OwnStop::new(own, other))
    }

    /// Lets a stop cut the attempt that runs.
    pub(crate) fn cutting(self, cuts: bool) -> Limited<CutOnStop<H>> {
        let handle = self.stop.clone();
        self.with_handle(CutOnStop::new(handle, cuts))
    }

    /// Updates and returns the time that is left; `None` if the limit is over. If the clock was set back, the time that
    /// is left does not change.
    #[inline]
    fn update(&mut self, clock: &impl Clock) -> Option<Duration> {
        let now = clock.reading();
        let passed = self.updated.map(|updated| now.saturating_since(updated)).unwrap_or_default();
        self.updated = Some(now);
        self.left = self.left.and_then(|left| left.checked_sub(passed));
        self.left
    }

    /// Shortens the time limit to the time until the deadline. It is out of line, so that the path without a deadline is short.
    #[cold]
    fn start_before(&mut self, deadline: Timestamp, now: Reading) {
        let left = deadline.saturating_since(now.timestamp());
        if self.max_time.is_none_or(|max_time| left < max_time) {
            (self.max_time, self.left, self.limit) = (Some(left), Some(left), TimeLimit::Deadline);
        }
    }

    /// Returns the error of an operation whose time is over before its next attempt.
    const fn over(&self, max_time: Duration) -> TimedOut {
        TimedOut::new(self.limit, max_time).before_attempt()
    }

    /// Returns the error of an operation that was stopped before its next attempt, and remembers it.
    #[inline]
    fn stopped(&mut self) -> Option<TimedOut> {
        if !self.is_stopped() {
            return None;
        }
        self.was_stopped = true;
        Some(TimedOut::new(TimeLimit::Stop, Duration::ZERO).before_attempt())
    }
}

impl<H: StopHandle> sealed::Sealed for Limited<H> {}

impl<H: StopHandle> RunningLimits for Limited<H> {
    const IS_TIMED: bool = true;
    const IS_BY_HAND: bool = H::IS_BY_HAND;

    type Cut = TimedOut;

    fn timed_out(cut: TimedOut) -> TimedOut {
        cut
    }

    fn is_of_attempt(cut: TimedOut) -> bool {
        cut.limit() == TimeLimit::Attempt
    }

    fn kept_outcome<R, K: RetryToken>() -> impl KeptOutcome<R> {
        None::<R>
    }

    #[inline]
    fn start(&mut self, clock: &impl Clock) {
        if self.max_time.is_none() && self.deadline.is_none() {
            return;
        }
        let now = clock.reading();
        self.updated = Some(now);
        if let Some(deadline) = self.deadline {
            self.start_before(deadline, now);
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

    #[inline]
    fn begin_first(&mut self) -> Option<TimedOut> {
        self.is_first = false;
        self.stopped()
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
            _ => (left, TimedOut::new(self.limit, max_time)),
        })
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        self.attempt_timeout
    }

    fn max_attempts(&self) -> Option<NonZeroU32> {
        self.max_attempts
    }

    fn note_cut(&mut self, was_cut: bool) {
        self.was_cut = was_cut;
    }

    fn was_cut(&self) -> bool {
        self.was_cut
    }

    #[inline]
    fn note_once(&mut self, is_once: bool) {
        self.executions = if is_once { Executions::Once } else { Executions::Any };
    }

    fn supersedes_last(&self, cut: TimedOut) -> bool {
        self.executions == Executions::Once && cut.was_attempt_cut()
    }

    type Sleep<Z: Future<Output = ()>> = H::Sleep<Z>;

    #[inline]
    fn sleep<T: Timer>(&self, timer: &T, next: Option<(Duration, TimedOut)>) -> Option<H::Sleep<T::Sleep>> {
        match next {
            Some((Duration::ZERO, _)) => None,
            // With a limit on the operation, the clock was read just now, to know what is left of it.
            Some((time, _)) => self.stop.sleep(Some(match self.updated {
                Some(now) => timer.sleep_from(now, time),
                None => timer.sleep(time),
            })),
            None => self.stop.sleep(None),
        }
    }

    fn stops(&self) -> [Option<&Stop>; 2] {
        self.stop.stops()
    }

    fn reason(&self) -> RetryError {
        let was_stopped = self.was_stopped || self.stop.cuts() && self.is_stopped();
        if was_stopped { RetryError::Stopped } else { RetryError::MaxTime }
    }
}

impl<H: StopHandle> RunAttempt for Limited<H> {
    type CutBy = TimedOut;
    type Attempted<R> = Result<R, TimedOut>;

    #[expect(clippy::manual_async_fn, reason = "the future of an `async fn` stores its arguments twice")]
    fn run_attempt<F: Future>(
        deadline: Deadline<TimedOut>,
        sleep: Pin<&mut Option<impl AttemptSleep<Self::CutBy>>>,
        make: impl FnOnce() -> F,
    ) -> impl Future<Output = Result<F::Output, TimedOut>> {
        async move {
            match deadline.over() {
                Some(cut) => Err(cut),
                None => Attempt::new(deadline, sleep, pin!(make())).await,
            }
        }
    }

    fn outcome<R>(attempted: Result<R, TimedOut>) -> Result<R, TimedOut> {
        attempted
    }
}

impl<H: StopHandle> TimeLimits for Limited<H> {
    type Running = Self;

    #[inline]
    fn running(&self) -> Self {
        self.clone()
    }

    type Limited = Self;

    type Stoppable<'s> = Limited<&'s Stop>;

    fn with_attempt_timeout(self, time: Option<Duration>) -> Self {
        Self { attempt_timeout: time, ..self }
    }

    fn with_max_time(self, time: Option<Duration>) -> Self {
        Self { max_time: time, left: time, ..self }
    }

    fn with_deadline(self, deadline: Option<Timestamp>) -> Self {
        Self { deadline, ..self }
    }

    type AtMost = Self;

    fn with_max_attempts(self, attempts: Option<NonZeroU32>) -> Self {
        Self { max_attempts: attempts, ..self }
    }

    fn without_max_attempts(self) -> Self {
        Self { max_attempts: None, ..self }
    }

    fn with_stop(self, stop: &Stop) -> Limited<&Stop> {
        self.with_handle(stop)
    }

    type StoppedByOwn = Limited<CutOnStop<OwnStop<Arc<Stop>, H>>>;

    fn with_own_stop(self, own: Arc<Stop>, cuts: bool) -> Self::StoppedByOwn {
        self.with_own(own).cutting(cuts)
    }
}

impl<R: OutOfTime, H: StopHandle> LimitsOn<R> for Limited<H> {
    #[cold]
    fn out_of_time(&self, cut: TimedOut) -> R {
        R::out_of_time(cut)
    }
}
