//! Time limits with a closure that makes the error of an attempt that was cut.

use super::{LimitsOn, RunningLimits, TimeLimits, sealed};
use crate::operation::Stop;
use crate::time::{TimedOut, Timestamp};
use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// Time limits together with a closure that makes their error; see [`Retry::timed_out`](crate::Retry::timed_out).
#[derive(Clone, Copy)]
pub struct WithTimedOut<L, C> {
    limits: L,
    timed_out: C,
}

impl<L, C> WithTimedOut<L, C> {
    pub(crate) const fn new(limits: L, timed_out: C) -> Self {
        Self { limits, timed_out }
    }

    pub(crate) fn map<M>(self, map: impl FnOnce(L) -> M) -> WithTimedOut<M, C> {
        WithTimedOut { limits: map(self.limits), timed_out: self.timed_out }
    }
}

impl<L: fmt::Debug, C> fmt::Debug for WithTimedOut<L, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithTimedOut").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl<L, C> sealed::Sealed for WithTimedOut<L, C> {}

impl<L: TimeLimits, C: Clone> TimeLimits for WithTimedOut<L, C> {
    type Running = L::Running;

    #[inline]
    fn running(&self) -> L::Running {
        self.limits.running()
    }

    type Limited = WithTimedOut<L::Limited, C>;

    type Stoppable<'s> = WithTimedOut<L::Stoppable<'s>, C>;

    fn with_attempt_timeout(self, time: Option<Duration>) -> Self::Limited {
        self.map(|limits| limits.with_attempt_timeout(time))
    }

    fn with_max_time(self, time: Option<Duration>) -> Self::Limited {
        self.map(|limits| limits.with_max_time(time))
    }

    fn with_deadline(self, deadline: Option<Timestamp>) -> Self::Limited {
        self.map(|limits| limits.with_deadline(deadline))
    }

    type AtMost = WithTimedOut<L::AtMost, C>;

    fn with_max_attempts(self, attempts: Option<NonZeroU32>) -> Self::AtMost {
        self.map(|limits| limits.with_max_attempts(attempts))
    }

    fn without_max_attempts(self) -> Self {
        self.map(L::without_max_attempts)
    }

    fn with_stop(self, stop: &Stop) -> Self::Stoppable<'_> {
        self.map(|limits| limits.with_stop(stop))
    }

    type StoppedByOwn = WithTimedOut<L::StoppedByOwn, C>;

    fn with_own_stop(self, own: Arc<Stop>, cuts: bool) -> Self::StoppedByOwn {
        self.map(|limits| limits.with_own_stop(own, cuts))
    }
}

impl<T, E, L: TimeLimits, C: Fn(TimedOut) -> E + Clone> LimitsOn<Result<T, E>> for WithTimedOut<L, C> {
    #[cold]
    fn out_of_time(&self, cut: <L::Running as RunningLimits>::Cut) -> Result<T, E> {
        Err((self.timed_out)(L::Running::timed_out(cut)))
    }
}
