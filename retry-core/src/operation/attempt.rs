//! An attempt with a limit on its time.

use super::release::ReleaseGuard;
use super::{Call, OperationOf, OptionalObserver, TimeLimits};
use crate::strategy::RetryStrategy;
use crate::time::Timer;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The deadline of the next attempt.
///
/// Without a limit it has no size, since `C` then has no values.
#[derive(Clone, Copy, Debug)]
pub enum Deadline<C> {
    /// There is no limit.
    Never,
    /// The attempt is cut when the sleep is over.
    Sleep(C),
    /// The time was up before the attempt could begin, so it is not made.
    Over(C),
}

impl<C: Copy> Deadline<C> {
    /// Returns what keeps the attempt from being made.
    #[inline]
    pub(crate) fn over(self) -> Option<C> {
        match self {
            Self::Over(cut) => Some(cut),
            Self::Never | Self::Sleep(_) => None,
        }
    }
}

/// The deadline of an attempt under these limits, and the sleep until then.
pub(crate) type DeadlineAndSleep<L, Z> = (Deadline<<L as TimeLimits>::Cut>, Option<<L as TimeLimits>::Sleep<Z>>);

impl<S: RetryStrategy, T: Timer + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns the deadline of the attempt that begins now, and the sleep until then. There is no sleep without a limit,
    /// nor without time that is left, in which case the attempt is polled once. Neither borrows the timer.
    #[inline]
    pub(crate) fn deadline<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) -> DeadlineAndSleep<L, T::Sleep> {
        if let Some(cut) = operation.stopped {
            return (Deadline::Over(cut), None);
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        // The clock is read once more, since an observer may have taken time.
        operation.limits.remaining(&self.timer());
        let (time, cut) = operation.limits.next_cut().unzip();
        let sleep = time.filter(|time| !time.is_zero()).map(|time| L::sleep(&self.timer(), time));
        guard.disarm();
        (cut.map_or(Deadline::Never, Deadline::Sleep), sleep)
    }
}

/// An attempt under way.
#[must_use = "futures do nothing unless polled"]
#[derive(Debug)]
pub struct Attempt<'a, F, S, C> {
    body: Pin<&'a mut F>,
    sleep: Pin<&'a mut Option<S>>,
    deadline: Deadline<C>,
}

impl<'a, F, S, C> Attempt<'a, F, S, C> {
    #[inline]
    pub(crate) fn new(deadline: Deadline<C>, sleep: Pin<&'a mut Option<S>>, body: Pin<&'a mut F>) -> Self {
        Self { body, sleep, deadline }
    }
}

impl<F: Future, S: Future<Output = ()>, C: Copy + Unpin> Future for Attempt<'_, F, S, C> {
    /// The outcome, or what cut it.
    type Output = Result<F::Output, C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { body, sleep, deadline } = self.get_mut();
        if let Some(cut) = deadline.over() {
            return Poll::Ready(Err(cut));
        }
        // An outcome that is there when the time is up counts.
        if let Poll::Ready(outcome) = body.as_mut().poll(context) {
            return Poll::Ready(Ok(outcome));
        }
        if let Some(sleep) = sleep.as_mut().as_pin_mut() {
            ready!(sleep.poll(context));
        }
        match *deadline {
            Deadline::Sleep(cut) | Deadline::Over(cut) => Poll::Ready(Err(cut)),
            Deadline::Never => Poll::Pending,
        }
    }
}
