//! An operation without time limits.

use super::{Limited, LimitsOn, TimeLimits, sealed};
use crate::operation::Stop;
use crate::strategy::RetryToken;
use crate::support::KeptOutcome;
use crate::time::{Clock, Timer, Timestamp};
use std::convert::Infallible;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The absence of time limits, which costs nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unlimited;

impl sealed::Sealed for Unlimited {}

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

    type Limited = Limited;

    fn with_attempt_timeout(self, time: Duration) -> Limited {
        Limited::new().with_attempt_timeout(time)
    }

    fn with_max_time(self, time: Duration) -> Limited {
        Limited::new().with_max_time(time)
    }

    fn with_deadline(self, deadline: Timestamp) -> Limited {
        Limited::new().with_deadline(deadline)
    }

    fn with_stop(self, stop: &Stop) -> Limited<&Stop> {
        Limited::new().with_stop(stop)
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
    #[inline]
    fn kept_outcome<K: RetryToken>() -> impl KeptOutcome<R> {
        K::kept_outcome()
    }

    fn cut(cut: Infallible, _: impl FnOnce() -> Option<R>) -> ControlFlow<R, R> {
        match cut {}
    }
}
