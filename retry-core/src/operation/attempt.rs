//! An attempt with a limit on its time.

use super::Operation;
use crate::time::{BoxSleep, Timer};
use crate::time_limit::{Limit, Limits};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What will cut the attempt that is about to begin. It borrows nothing.
pub struct Deadline<T: Timer, L: Limit> {
    /// The time was up before.
    stopped: Option<L::Stop>,
    /// What the attempt comes to if it is cut.
    cut: Option<L::Cut>,
    /// Until when it has time. None if there is no time left; then it is polled once.
    sleep: Option<BoxSleep<T>>,
}

impl<K, L: Limit, N> Operation<K, L, N> {
    /// The deadline of the attempt that begins now.
    #[inline]
    pub(crate) fn deadline<T: Timer>(&mut self, timer: &T) -> Deadline<T, L> {
        let (mut sleep, mut cut) = (None, None);
        if self.stopped.is_none()
            && let Some((time, outcome)) = self.limits.cut(timer)
        {
            cut = Some(outcome);
            sleep = (!time.is_zero()).then(|| Box::pin(timer.sleep(time)));
        }
        Deadline { stopped: self.stopped, cut, sleep }
    }
}

/// An attempt under way.
#[must_use = "futures do nothing unless polled"]
pub struct Attempt<'a, F, T: Timer, L: Limit> {
    body: Pin<&'a mut F>,
    deadline: Deadline<T, L>,
}

impl<'a, F, T: Timer, L: Limit> Attempt<'a, F, T, L> {
    #[inline]
    pub(crate) fn new(body: Pin<&'a mut F>, deadline: Deadline<T, L>) -> Self {
        Self { body, deadline }
    }
}

impl<F: Future, T: Timer, L: Limits<F::Output>> Future for Attempt<'_, F, T, L> {
    /// The outcome, or what ends the operation without one.
    type Output = Result<F::Output, L::Stop>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { body, deadline } = self.get_mut();
        if let Some(stop) = deadline.stopped {
            return Poll::Ready(Err(stop));
        }
        // An outcome that is there when the time is up counts.
        if let Poll::Ready(outcome) = body.as_mut().poll(context) {
            return Poll::Ready(Ok(outcome));
        }
        let Some(cut) = deadline.cut else { return Poll::Pending };
        if let Some(sleep) = &mut deadline.sleep {
            ready!(sleep.as_mut().poll(context));
        }
        Poll::Ready(L::strike(cut))
    }
}
