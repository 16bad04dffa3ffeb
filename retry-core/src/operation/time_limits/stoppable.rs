//! Operations that a handle can stop.

use super::{LimitsOn, OutOfTime, TimeLimits, sealed};
use crate::operation::Stop;
use crate::operation::timed_attempt::{Deadline, RunAttempt, run_limited};
use crate::strategy::{RetryError, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, TimeLimit, TimedOut, Timer, Timestamp};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::time::Duration;

/// The time limits of an operation that a [`Stop`] can end. `L` is its other limits.
#[derive(Clone, Copy, Debug)]
pub struct Stoppable<'s, L> {
    limits: L,
    stop: &'s Stop,
    /// Whether the stop prevented an attempt.
    has_prevented: bool,
}

/// The reason why an attempt of an operation that can be stopped is cut or prevented.
#[derive(Clone, Copy, Debug)]
pub enum StopCut<C> {
    /// The operation was stopped.
    Stopped,
    /// A time limit.
    Limit(C),
}

impl<'s, L> Stoppable<'s, L> {
    pub(crate) const fn new(limits: L, stop: &'s Stop) -> Self {
        Self { limits, stop, has_prevented: false }
    }

    fn with<M>(self, change: impl FnOnce(L) -> M) -> Stoppable<'s, M> {
        Stoppable { limits: change(self.limits), stop: self.stop, has_prevented: self.has_prevented }
    }

    /// Returns whether the operation was stopped, and notes it.
    fn prevents(&mut self) -> bool {
        self.has_prevented |= self.stop.is_stopped();
        self.has_prevented
    }
}

impl<L: TimeLimits> sealed::Sealed for Stoppable<'_, L> {}

impl<'s, L: TimeLimits> TimeLimits for Stoppable<'s, L> {
    type Cut = StopCut<L::Cut>;

    fn start(&mut self, clock: &impl Clock) {
        self.limits.start(clock);
    }

    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration> {
        self.limits.remaining(clock)
    }

    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<Self::Cut> {
        if self.prevents() { Some(StopCut::Stopped) } else { self.limits.is_over(wait, clock).map(StopCut::Limit) }
    }

    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, Self::Cut> {
        if self.prevents() { Err(StopCut::Stopped) } else { self.limits.shorten(wait, clock).map_err(StopCut::Limit) }
    }

    fn skip(&mut self, wait: Duration) {
        self.limits.skip(wait);
    }

    fn next_cut(&self) -> Option<(Duration, Self::Cut)> {
        self.limits.next_cut().map(|(time, cut)| (time, StopCut::Limit(cut)))
    }

    fn attempt_timeout(&self) -> Option<Duration> {
        self.limits.attempt_timeout()
    }

    type Sleep<Z: Future<Output = ()>> = L::Sleep<Z>;

    fn sleep<T: Timer>(timer: &T, time: Duration, cut: Self::Cut) -> Option<L::Sleep<T::Sleep>> {
        match cut {
            StopCut::Limit(cut) => L::sleep(timer, time, cut),
            StopCut::Stopped => None,
        }
    }

    fn stop(&self) -> Option<&Stop> {
        Some(self.stop)
    }

    fn reason(&self) -> RetryError {
        if self.has_prevented { RetryError::Stopped } else { self.limits.reason() }
    }

    type WithAttemptTimeout = Stoppable<'s, L::WithAttemptTimeout>;

    fn with_attempt_timeout(self, time: Duration) -> Self::WithAttemptTimeout {
        self.with(|limits| limits.with_attempt_timeout(time))
    }

    type WithMaxTime = Stoppable<'s, L::WithMaxTime>;

    fn with_max_time(self, time: Duration) -> Self::WithMaxTime {
        self.with(|limits| limits.with_max_time(time))
    }

    fn with_deadline(self, deadline: Timestamp) -> Self::WithMaxTime {
        self.with(|limits| limits.with_deadline(deadline))
    }

    type WithStop<'t> = Stoppable<'t, L>;

    fn with_stop(self, stop: &Stop) -> Stoppable<'_, L> {
        Stoppable::new(self.limits, stop)
    }
}

impl<R: OutOfTime, L: LimitsOn<R>> LimitsOn<R> for Stoppable<'_, L> {
    fn kept_outcome<K: RetryToken>() -> impl KeptOutcome<R> {
        None::<R>
    }

    fn cut(cut: Self::Cut, last: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        match cut {
            StopCut::Limit(cut) => L::cut(cut, last),
            StopCut::Stopped => ControlFlow::Break(
                last().unwrap_or_else(|| R::out_of_time(TimedOut::new(TimeLimit::Stop, Duration::ZERO))),
            ),
        }
    }
}

impl<L: TimeLimits> RunAttempt for Stoppable<'_, L> {
    type CutBy = StopCut<L::Cut>;
    type Attempted<R> = Result<R, Self::CutBy>;

    fn run_attempt<F: Future>(
        deadline: Deadline<Self::CutBy>,
        sleep: Pin<&mut Option<impl Future<Output = ()>>>,
        make: impl FnOnce() -> F,
    ) -> impl Future<Output = Result<F::Output, Self::CutBy>> {
        run_limited(deadline, sleep, make)
    }

    fn outcome<R>(attempted: Result<R, Self::CutBy>) -> Result<R, Self::CutBy> {
        attempted
    }
}
