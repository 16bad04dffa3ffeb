//! A time limit on each attempt.

use super::max_time::MaxTime;
use super::stoppable::Stoppable;
use super::{LimitsOn, OutOfTime, TimeLimits, sealed};
use crate::operation::Stop;
use crate::strategy::RetryToken;
use crate::support::KeptOutcome;
use crate::time::{Clock, TimeLimit, TimedOut, Timer, Timestamp};
use std::ops::ControlFlow;
use std::time::Duration;

/// A time limit on each attempt.
#[derive(Clone, Copy, Debug)]
pub struct AttemptTimeout(pub(crate) Duration);

impl sealed::Sealed for AttemptTimeout {}

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

    fn attempt_timeout(&self) -> Option<Duration> {
        Some(self.0)
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

    type WithStop<'s> = Stoppable<'s, Self>;

    fn with_stop(self, stop: &Stop) -> Stoppable<'_, Self> {
        Stoppable::new(self, stop)
    }
}

impl<R: OutOfTime> LimitsOn<R> for AttemptTimeout {
    #[inline]
    fn kept_outcome<K: RetryToken>() -> impl KeptOutcome<R> {
        K::kept_outcome()
    }

    fn cut(cut: TimedOut, _: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        ControlFlow::Continue(R::out_of_time(cut))
    }
}
