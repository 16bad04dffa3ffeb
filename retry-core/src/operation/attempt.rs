//! An attempt with a limit on its time.

use super::Operation;
use crate::time::{BoxSleep, Timer};
use crate::time_limit::Limit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What will cut the attempt that is about to begin. It borrows nothing.
pub struct Deadline<T: Timer, L: Limit> {
    /// The time was up before, so that the attempt is not made.
    is_over: bool,
    /// What will cut it; none without a limit.
    cut: Option<L::Cut>,
    /// Until when it has time. None if there is no time left; then it is polled once.
    sleep: Option<BoxSleep<T>>,
}

impl<K, L: Limit, N> Operation<K, L, N> {
    /// The deadline of the attempt that begins now.
    #[inline]
    pub(crate) fn deadline<T: Timer>(&mut self, timer: &T) -> Deadline<T, L> {
        if self.stopped.is_some() {
            return Deadline { is_over: true, cut: self.stopped, sleep: None };
        }
        let (time, cut) = self.limits.next_cut(timer).unzip();
        let sleep = time.filter(|time| !time.is_zero()).map(|time| Box::pin(timer.sleep(time)));
        Deadline { is_over: false, cut, sleep }
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

impl<F: Future, T: Timer, L: Limit> Future for Attempt<'_, F, T, L> {
    /// The outcome, or what cut it.
    type Output = Result<F::Output, L::Cut>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { body, deadline } = self.get_mut();
        if !deadline.is_over {
            // An outcome that is there when the time is up counts.
            if let Poll::Ready(outcome) = body.as_mut().poll(context) {
                return Poll::Ready(Ok(outcome));
            }
            if let Some(sleep) = &mut deadline.sleep {
                ready!(sleep.as_mut().poll(context));
            }
        }
        deadline.cut.map_or(Poll::Pending, |cut| Poll::Ready(Err(cut)))
    }
}
