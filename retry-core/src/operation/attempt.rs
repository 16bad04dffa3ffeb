//! An attempt with a limit on its time.

use super::Operation;
use super::wait::Guard;
use crate::strategy::RetryStrategy;
use crate::time::Timer;
use crate::time_limit::Limit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// What will cut the attempt that is about to begin.
#[derive(Clone, Copy, Debug)]
pub struct Deadline<C> {
    /// The time was up before, so that the attempt is not made.
    is_over: bool,
    /// None without a limit.
    cut: Option<C>,
}

impl<K, L: Limit, N> Operation<K, L, N> {
    /// The deadline of the attempt that begins now, and the sleep until then: none if there is no limit, or no time
    /// left, when the attempt is polled once. Neither borrows the timer.
    #[inline]
    pub(crate) fn deadline<S, T>(&mut self, strategy: &S, timer: &T) -> (Deadline<L::Cut>, Option<L::Sleep<T>>)
    where
        S: RetryStrategy<Token = K>,
        T: Timer,
    {
        if self.stopped.is_some() {
            return (Deadline { is_over: true, cut: self.stopped }, None);
        }
        let guard = Guard::new(&mut self.token, strategy);
        // Once more, since an observer may have taken its time.
        self.limits.remaining(timer);
        let (time, cut) = self.limits.next_cut().unzip();
        let sleep = time.filter(|time| !time.is_zero()).map(|time| L::sleep(timer, time));
        guard.disarm();
        (Deadline { is_over: false, cut }, sleep)
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
        if !deadline.is_over {
            // An outcome that is there when the time is up counts.
            if let Poll::Ready(outcome) = body.as_mut().poll(context) {
                return Poll::Ready(Ok(outcome));
            }
            if let Some(sleep) = sleep.as_mut().as_pin_mut() {
                ready!(sleep.poll(context));
            }
        }
        deadline.cut.map_or(Poll::Pending, |cut| Poll::Ready(Err(cut)))
    }
}
