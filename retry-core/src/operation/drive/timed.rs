//! Futures for the waits and the time limits of an operation whose clock is a timer.

use super::{Ended, Operation, Pause, Stage};
use crate::operation::wait::Waiting;
use crate::operation::{OptionalObserver, RunningLimits};
use crate::strategy::RetryStrategy;
use crate::time::Timer;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The next step of a driver of futures. [`Operation::due`] returns it.
#[derive(Debug)]
pub enum Due<Z> {
    /// Await this, and ask again.
    Wait(Wait<Z>),
    /// Make an attempt. Its time begins with [`time_left`](Operation::time_left), so the driver prepares the request before.
    Attempt,
    /// No further attempt follows, because time is up, the operation was stopped, or the service did not recover. Return what
    /// [`Ended::last_or`] says.
    Stop(Ended),
}

/// A wait before an attempt. It borrows nothing, and the sleep in it is boxed, so it can be kept anywhere.
///
/// It ends early if a limiter permits the attempt, if the service answers, or if a [`Stop`](crate::Stop) ends the operation. Under a test
/// guard it is skipped.
#[must_use = "futures do nothing unless polled"]
pub struct Wait<Z>(Waiting<(), Z>);

impl<Z: Future<Output = ()>> Future for Wait<Z> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.0.poll_unguarded(context)
    }
}

impl<Z> fmt::Debug for Wait<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").finish_non_exhaustive()
    }
}

/// The time that an attempt may take: a future that ends when the attempt must be [cut](Operation::cut). [`Operation::time_left`] returns
/// it.
///
/// Poll the attempt first: an outcome that is ready when the time is up is used. If no time is left, this is ready immediately, so the
/// attempt is polled once.
#[must_use = "futures do nothing unless polled"]
pub struct TimeLeft<Z>(Option<Pin<Box<Z>>>);

impl<Z: Future<Output = ()>> Future for TimeLeft<Z> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().poll(context),
            None => Poll::Ready(()),
        }
    }
}

impl<Z> fmt::Debug for TimeLeft<Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeLeft").finish_non_exhaustive()
    }
}

impl<S: RetryStrategy, C: Timer, O: OptionalObserver> Operation<S, C, O> {
    /// Returns the next step, as [`next`](Operation::next) does, with a future for a wait.
    ///
    /// After [`Due::Attempt`], this returns the same until the attempt is settled or cut; after [`Due::Stop`], always.
    pub fn due(&mut self) -> Due<C::Sleep> {
        if let Stage::Waiting(pause) = &mut self.stage {
            let (call, timer) = (self.surroundings.call(), &self.surroundings.clock);
            let wait = match pause.take() {
                // A wait that `next` has begun.
                Some(Pause::Until(until, wake)) => match until.saturating_since(timer.now()) {
                    Duration::ZERO => call.unguarded_wait(&mut self.state),
                    left => Some(Waiting::rest(timer.sleep(left), wake)),
                },
                Some(Pause::Skipped(wait)) => Some(Waiting::skipped(wait)),
                None => call.unguarded_wait(&mut self.state),
            };
            if let Some(wait) = wait {
                return Due::Wait(Wait(wait));
            }
            self.start_or_end();
        }
        match self.stage {
            Stage::Ended(ended) => Due::Stop(ended),
            Stage::Attempt { .. } | Stage::Waiting(_) => Due::Attempt,
        }
    }

    /// Begins the time of the attempt, and returns the future that ends with it; `None` if the attempt has no time limit.
    pub fn time_left(&mut self) -> Option<TimeLeft<C::Sleep>> {
        let Stage::Attempt { is_sent, is_repeatable, .. } = self.stage else { return None };
        let cut = self.next_cut();
        self.stage = Stage::Attempt { cut, is_sent, is_repeatable };
        cut?;
        let sleep = self.state.limits.sleep(&self.surroundings.clock, cut);
        Some(TimeLeft(sleep.map(Box::pin)))
    }
}
