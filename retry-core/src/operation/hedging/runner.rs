//! An attempt of a race.

use crate::operation::{AttemptSleep, Deadline};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// One of the attempts of a race, which may run or not. It is pinned in the driver, so it is not allocated.
#[derive(Debug)]
pub(super) struct Runner<'a, F, Z, C> {
    body: Pin<&'a mut Option<F>>,
    sleep: Pin<&'a mut Option<Z>>,
    deadline: Deadline<C>,
}

impl<'a, F: Future, Z: AttemptSleep<C>, C: Copy + Unpin> Runner<'a, F, Z, C> {
    /// Creates a runner of an attempt that does not run yet.
    pub(super) fn new(body: Pin<&'a mut Option<F>>, sleep: Pin<&'a mut Option<Z>>) -> Self {
        Self { body, sleep, deadline: Deadline::Never }
    }

    /// Begins the time of an attempt.
    #[inline]
    pub(super) fn begin(&mut self, (deadline, sleep): (Deadline<C>, Option<Z>)) {
        self.deadline = deadline;
        self.sleep.set(sleep);
    }

    /// Starts the attempt that `make` makes. If its time is over already, `make` is not called.
    #[inline]
    pub(super) fn start(&mut self, make: impl FnOnce() -> F) {
        if self.deadline.over().is_none() {
            self.body.set(Some(make()));
        }
    }

    /// Drops the attempt, if it runs.
    #[inline]
    pub(super) fn stop(&mut self) {
        self.deadline = Deadline::Never;
        self.body.set(None);
        self.sleep.set(None);
    }

    /// Returns whether the attempt runs.
    pub(super) fn is_running(&self) -> bool {
        self.body.is_some()
    }

    /// Polls the body of the attempt, if it runs, and drops the attempt when it has ended.
    #[inline]
    pub(super) fn poll_body(&mut self, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(body) = self.body.as_mut().as_pin_mut() else { return Poll::Pending };
        let outcome = ready!(body.poll(context));
        self.stop();
        Poll::Ready(outcome)
    }

    /// Polls the time limit of the attempt, if it runs or could not begin, and drops the attempt when its time is over. Without a
    /// sleep, no time was left, and its body was polled once.
    #[inline]
    pub(super) fn poll_limit(&mut self, context: &mut Context<'_>) -> Poll<C> {
        if let Some(cut) = self.deadline.over() {
            return Poll::Ready(cut);
        }
        if let Some(sleep) = self.sleep.as_mut().as_pin_mut()
            && let Some(cut) = ready!(sleep.poll_cut(context))
        {
            self.stop();
            return Poll::Ready(cut);
        }
        let Deadline::Sleep(cut) = self.deadline else { return Poll::Pending };
        self.stop();
        Poll::Ready(cut)
    }
}
