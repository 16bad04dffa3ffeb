//! The waits before an attempt: the token's delay, once, and what a limiter asks for.

use super::token::{ReleaseGuard, TokenState};
use super::{Call, OperationOf, OptionalObserver, TimeLimits};
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::strategy::{EarlyWake, LazyWaker, RetryStrategy, RetryToken};
use crate::time::{BlockingTimer, BoxSleep, Clock, Timer, Timestamp};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};
use std::thread::{self, Thread};
use std::time::Duration;

/// What an attempt has waited for last.
#[derive(Debug)]
pub enum Waited {
    /// For nothing so far.
    ForNothing,
    /// For the token's delay.
    ForDelay,
    /// For a limiter, which could end the wait early if it asked for a waker.
    ForLimiter(Option<Arc<EarlyWake>>),
}

/// A wait of an operation. If it is dropped before it is over, the attempt that follows it is given up.
///
/// It borrows the strategy while it waits, and only then. Its output goes to the next [`Call::wait`].
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'a, S: RetryStrategy, T: Timer> {
    /// None once the wait is over. It comes before the sleep, so that it is dropped first.
    guard: Option<ReleaseGuard<'a, S>>,
    /// None once it is ready.
    sleep: Option<BoxSleep<T>>,
    waits_for: Waited,
    was_polled: bool,
}

impl<'a, S: RetryStrategy, T: Timer> Wait<'a, S, T> {
    #[cold]
    fn new(guard: ReleaseGuard<'a, S>, timer: &T, delay: Duration, waits_for: Waited) -> Self {
        let sleep = Some(Box::pin(timer.sleep(delay)));
        Self { guard: Some(guard), sleep, waits_for, was_polled: false }
    }
}

impl<S: RetryStrategy, T: Timer> Future for Wait<'_, S, T> {
    type Output = Waited;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let is_first_poll = !std::mem::replace(&mut this.was_polled, true);
        if let Some(sleep) = &mut this.sleep {
            let is_woken = matches!(&this.waits_for, Waited::ForLimiter(Some(wake)) if wake.register(context.waker()));
            if !is_woken {
                ready!(sleep.as_mut().poll(context));
            }
            // The sleep is dropped under the guard: if that panics, the attempt is given up.
            this.sleep = None;
            // A limiter is asked again after each wait. Where sleeps are over at once and the clock stands still, it would
            // be asked for ever within one poll, and nothing around the operation could end it.
            if is_first_poll && matches!(this.waits_for, Waited::ForLimiter(_)) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Some(guard) = this.guard.take() {
            guard.disarm();
        }
        Poll::Ready(std::mem::replace(&mut this.waits_for, Waited::ForNothing))
    }
}

impl<'c, S: RetryStrategy, T: Timer, O: OptionalObserver + ?Sized> Call<'c, S, T, O> {
    /// Returns the next wait before an attempt, given the one before it; `None` once the attempt is due, or will never be.
    #[inline]
    pub(crate) fn wait<L: TimeLimits>(
        self,
        operation: &'c mut OperationOf<S, L, O>,
        waited: Waited,
    ) -> Option<Wait<'c, S, T>> {
        let (delay, waits_for) = match self.delay(operation, &waited) {
            Some(delay) => (delay, Waited::ForDelay),
            None => self.ask(operation, waited).map(|(delay, wake)| (delay, Waited::ForLimiter(wake)))?,
        };
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        Some(Wait::new(guard, self.timer, delay, waits_for))
    }
}

impl<S: RetryStrategy, T: Clock, O: OptionalObserver + ?Sized> Call<'_, S, T, O> {
    /// Returns the token's delay, if that was not slept yet and fits into the time that is left.
    #[inline]
    fn delay<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>, waited: &Waited) -> Option<Duration> {
        let (TokenState::Held(token), Waited::ForNothing) = (&operation.token, waited) else { return None };
        let delay = token.delay();
        if delay.is_zero() {
            return None;
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        operation.stopped = operation.limits.is_over(delay, self.timer);
        if operation.stopped.is_some() {
            guard.give_up();
            return None;
        }
        guard.disarm();
        Some(delay)
    }

    /// Asks the strategy whether the attempt may be sent. Returns how long to wait for the next question, and what ends
    /// that wait early; `None` once the attempt is due, or will never be.
    #[inline]
    fn ask<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        waited: Waited,
    ) -> Option<(Duration, Option<Arc<EarlyWake>>)> {
        if operation.stopped.is_some() {
            return None;
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        let waker = LazyWaker::new(match waited {
            Waited::ForLimiter(wake) => wake,
            Waited::ForNothing | Waited::ForDelay => None,
        });
        let wait = match &mut *guard.token {
            TokenState::Held(token) => self.strategy.ready(token, self.timer, Some(&waker)).wait(),
            _ => None,
        };
        let wake = waker.into_early_wake();
        // A wait that can end early is a bound, so it is shortened to the time that is left. Any other one has to fit.
        let allowed = match (wait, &wake) {
            (Some(wait), Some(_)) => operation.limits.shorten(wait, self.timer).map(Some),
            _ => operation.limits.is_over(wait.unwrap_or_default(), self.timer).map_or(Ok(wait), Err),
        };
        let wait = match allowed {
            Ok(wait) => wait,
            Err(cut) => {
                operation.stopped = Some(cut);
                guard.give_up();
                return None;
            }
        };
        let attempt = guard.token.attempts();
        match wait {
            None => self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted),
            Some(wait) => self.tell(&operation.observed, Level::Trace, attempt, || EventKind::Limited { wait }),
        }
        guard.disarm();
        Some((wait?, wake))
    }
}

impl<S: RetryStrategy> ReleaseGuard<'_, S> {
    /// Releases the token because the time was up before its attempt could begin.
    #[cold]
    fn give_up(self) {
        let sent = self.token.attempts().saturating_sub(1);
        if let TokenState::Held(token) = std::mem::replace(self.token, TokenState::Unsent(sent)) {
            self.strategy.release(token);
        }
    }
}

impl<S: RetryStrategy, T: BlockingTimer, O: OptionalObserver + ?Sized> Call<'_, S, T, O> {
    /// Blocks the thread until the attempt is due, or returns what keeps it from being made.
    ///
    /// A thread can't yield as a task can. Where the clock stands still, the attempt is sent after [`MAX_QUESTIONS`].
    pub(crate) fn block<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) -> Option<L::Cut> {
        let mut waited = Waited::ForNothing;
        if let Some(delay) = self.delay(operation, &waited) {
            let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
            self.timer.block(delay);
            guard.disarm();
        }
        let mut standing = StandingClock::default();
        while let Some((wait, wake)) = self.ask(operation, waited) {
            let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
            let is_woken = wake.as_ref().is_some_and(|wake| wake.register(&unparks_this_thread()));
            if !is_woken {
                self.timer.park(wait);
            }
            let send = standing.is_exhausted_at(self.timer.now());
            if send {
                let attempt = guard.token.attempts();
                self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted);
            }
            guard.disarm();
            if send {
                break;
            }
            waited = Waited::ForLimiter(wake);
        }
        operation.stopped
    }
}

/// How often a strategy is asked while the clock of a blocking call stands still.
const MAX_QUESTIONS: u32 = 100;

/// Counts questions during which a clock stood still.
#[derive(Default)]
struct StandingClock {
    latest: Option<Timestamp>,
    questions: u32,
}

impl StandingClock {
    /// Counts a question after which the clock shows this time. Returns whether it was the last one allowed.
    fn is_exhausted_at(&mut self, now: Timestamp) -> bool {
        if self.latest == Some(now) {
            self.questions += 1;
        } else {
            *self = Self { latest: Some(now), questions: 1 };
        }
        self.questions >= MAX_QUESTIONS
    }
}

fn unparks_this_thread() -> Waker {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    Waker::from(Arc::new(Unpark(thread::current())))
}
