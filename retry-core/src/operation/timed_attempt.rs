//! An attempt with a time limit.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The deadline of the next attempt.
///
/// Without a time limit it is zero-sized, because `C` then has no values.
#[derive(Clone, Copy, Debug)]
pub enum Deadline<C> {
    /// The attempt has no time limit.
    Never,
    /// The attempt is cut when its sleep is over; without a sleep, after one poll.
    Sleep(C),
    /// The time was up before the attempt could begin, so the attempt is not made.
    Over(C),
}

impl<C: Copy> Deadline<C> {
    /// Returns the limit that prevents the attempt, if one does.
    #[inline]
    pub(crate) fn over(self) -> Option<C> {
        match self {
            Self::Over(cut) => Some(cut),
            Self::Never | Self::Sleep(_) => None,
        }
    }
}

/// A running attempt.
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

impl<F: Future, S: AttemptSleep<C>, C: Copy + Unpin> Future for Attempt<'_, F, S, C> {
    /// The outcome, or the limit that cut the attempt.
    type Output = Result<F::Output, C>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { body, sleep, deadline } = self.get_mut();
        if let Some(cut) = deadline.over() {
            return Poll::Ready(Err(cut));
        }
        // The body is polled before the sleep: if both are ready, the outcome is used.
        if let Poll::Ready(outcome) = body.as_mut().poll(context) {
            return Poll::Ready(Ok(outcome));
        }
        if let Some(sleep) = sleep.as_mut().as_pin_mut()
            && let Some(cut) = ready!(sleep.poll_cut(context))
        {
            return Poll::Ready(Err(cut));
        }
        if let Deadline::Sleep(cut) = *deadline { Poll::Ready(Err(cut)) } else { Poll::Pending }
    }
}

/// The sleep until an attempt is cut.
pub trait AttemptSleep<C> {
    /// Polls the sleep. At its end, this returns what cuts the attempt, if that is not its deadline.
    fn poll_cut(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<C>>;
}

impl<Z: Future<Output = ()>, C> AttemptSleep<C> for Z {
    #[inline]
    fn poll_cut(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<C>> {
        self.poll(context).map(|()| None)
    }
}

/// How a closure's attempt runs under time limits. Part of [`RunningLimits`](super::RunningLimits), which is sealed.
///
/// Without limits, the attempt's own future is awaited directly, so that no place for a limit is stored with it.
pub trait RunAttempt {
    /// The limit that cuts an attempt.
    #[doc(hidden)]
    type CutBy: Copy + Unpin;

    /// The result of running an attempt with an outcome of type `R`.
    #[doc(hidden)]
    type Attempted<R>;

    /// Runs the attempt that `make` makes. If its time is over already, `make` is not called.
    #[doc(hidden)]
    fn run_attempt<F: Future>(
        deadline: Deadline<Self::CutBy>,
        sleep: Pin<&mut Option<impl AttemptSleep<Self::CutBy>>>,
        make: impl FnOnce() -> F,
    ) -> impl Future<Output = Self::Attempted<F::Output>>;

    /// Returns the outcome of an attempt, or the limit that cut it.
    #[doc(hidden)]
    fn outcome<R>(attempted: Self::Attempted<R>) -> Result<R, Self::CutBy>;
}
