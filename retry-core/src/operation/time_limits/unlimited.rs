//! An operation without time limits, whose number of attempts it may bound itself.

use super::{CutOnStop, Limited, LimitsOn, OwnStop, RunningLimits, TimeLimits, sealed};
use crate::operation::{AttemptSleep, Deadline, RunAttempt, Stop};
use crate::strategy::RetryToken;
use crate::support::KeptOutcome;
use crate::time::{Clock, TimedOut, Timer, Timestamp};
use std::convert::Infallible;
use std::num::NonZeroU32;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// The absence of time limits, which costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

/// A number of attempts without time limits; see [`Retry::max_attempts`](crate::Retry::max_attempts).
#[derive(Clone, Copy, Debug)]
pub struct AtMost(Option<NonZeroU32>);

impl AtMost {
    #[inline]
    pub(crate) const fn new(attempts: Option<NonZeroU32>) -> Self {
        Self(attempts)
    }
}

/// Implements the limits of an operation without time limits, with these further methods.
macro_rules! without_time_limits {
    ($limits:ty { $($method:item)* }) => {
        impl sealed::Sealed for $limits {}

        impl RunningLimits for $limits {
            const IS_TIMED: bool = false;

            type Cut = Infallible;

            fn timed_out(cut: Infallible) -> TimedOut {
                match cut {}
            }

            fn is_of_attempt(cut: Infallible) -> bool {
                match cut {}
            }

            #[inline]
            fn kept_outcome<R, K: RetryToken>() -> impl KeptOutcome<R> {
                K::kept_outcome()
            }

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
            fn begin_first(&mut self) -> Option<Infallible> {
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

            #[inline]
            fn sleep<T: Timer>(&self, _: &T, _: Option<(Duration, Infallible)>) -> Option<NoSleep> {
                None
            }

            $($method)*
        }

        impl RunAttempt for $limits {
            type CutBy = Infallible;
            type Attempted<R> = R;

            #[inline]
            fn run_attempt<F: Future>(
                _: Deadline<Infallible>,
                _: Pin<&mut Option<impl AttemptSleep<Infallible>>>,
                make: impl FnOnce() -> F,
            ) -> impl Future<Output = F::Output> {
                make()
            }

            #[inline]
            fn outcome<R>(outcome: R) -> Result<R, Infallible> {
                Ok(outcome)
            }
        }

        impl<R> LimitsOn<R> for $limits {
            fn out_of_time(&self, cut: Infallible) -> R {
                match cut {}
            }
        }
    };
}

without_time_limits! { Unlimited {} }

without_time_limits! {
    AtMost {
        #[inline]
        fn max_attempts(&self) -> Option<NonZeroU32> {
            self.0
        }
    }
}

impl TimeLimits for Unlimited {
    type Running = Self;

    #[inline]
    fn running(&self) -> Self {
        *self
    }

    type Limited = Limited;

    type Stoppable<'s> = Limited<&'s Stop>;

    fn with_attempt_timeout(self, time: Option<Duration>) -> Limited {
        Limited::new().with_attempt_timeout(time)
    }

    fn with_max_time(self, time: Option<Duration>) -> Limited {
        Limited::new().with_max_time(time)
    }

    fn with_deadline(self, deadline: Option<Timestamp>) -> Limited {
        Limited::new().with_deadline(deadline)
    }

    type AtMost = AtMost;

    fn with_max_attempts(self, attempts: Option<NonZeroU32>) -> AtMost {
        AtMost(attempts)
    }

    fn without_max_attempts(self) -> Self {
        self
    }

    fn with_stop(self, stop: &Stop) -> Limited<&Stop> {
        Limited::new().with_stop(stop)
    }

    type StoppedByOwn = Limited<CutOnStop<OwnStop<Arc<Stop>, ()>>>;

    fn with_own_stop(self, own: Arc<Stop>, cuts: bool) -> Self::StoppedByOwn {
        Limited::new().with_own(own).cutting(cuts)
    }
}

impl TimeLimits for AtMost {
    type Running = Self;

    #[inline]
    fn running(&self) -> Self {
        *self
    }

    type Limited = Limited;

    type Stoppable<'s> = Limited<&'s Stop>;

    fn with_attempt_timeout(self, time: Option<Duration>) -> Limited {
        Unlimited.with_attempt_timeout(time).with_max_attempts(self.0)
    }

    fn with_max_time(self, time: Option<Duration>) -> Limited {
        Unlimited.with_max_time(time).with_max_attempts(self.0)
    }

    fn with_deadline(self, deadline: Option<Timestamp>) -> Limited {
        Unlimited.with_deadline(deadline).with_max_attempts(self.0)
    }

    type AtMost = Self;

    fn with_max_attempts(self, attempts: Option<NonZeroU32>) -> Self {
        Self(attempts)
    }

    fn without_max_attempts(self) -> Self {
        Self(None)
    }

    fn with_stop(self, stop: &Stop) -> Limited<&Stop> {
        Unlimited.with_stop(stop).with_max_attempts(self.0)
    }

    type StoppedByOwn = Limited<CutOnStop<OwnStop<Arc<Stop>, ()>>>;

    fn with_own_stop(self, own: Arc<Stop>, cuts: bool) -> Self::StoppedByOwn {
        Unlimited.with_own_stop(own, cuts).with_max_attempts(self.0)
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
