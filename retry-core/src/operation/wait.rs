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
    fn new(
        token: &'a mut TokenState<S::Token>,
        strategy: &'a S,
        timer: &T,
        delay: Duration,
        waits_for: Waited,
    ) -> Self {
        let guard = ReleaseGuard::new(token, strategy);
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
    ///
    /// What every attempt passes is inlined; the rest is cold.
    #[inline(always)]
    pub(crate) fn wait<L: TimeLimits>(
        self,
        operation: &'c mut OperationOf<S, L, O>,
        waited: Waited,
    ) -> Option<Wait<'c, S, T>> {
        let (delay, waits_for) = match waited {
            Waited::ForNothing => self.first_wait(operation)?,
            Waited::ForDelay => self.next_wait(operation, None)?,
            Waited::ForLimiter(wake) => self.next_wait(operation, wake)?,
        };
        Some(Wait::new(&mut operation.token, self.strategy, self.timer, delay, waits_for))
    }
}

impl<S: RetryStrategy, T: Clock, O: OptionalObserver + ?Sized> Call<'_, S, T, O> {
    /// Returns the first wait before an attempt, and what it is for.
    #[inline(always)]
    fn first_wait<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) -> Option<(Duration, Waited)> {
        if let TokenState::Held(token) = &operation.token
            && !token.delay().is_zero()
        {
            return self.delay(operation);
        }
        self.ask(operation, None)
    }

    /// Returns the next wait before the same attempt, and what it is for.
    #[cold]
    fn next_wait<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        wake: Option<Arc<EarlyWake>>,
    ) -> Option<(Duration, Waited)> {
        self.ask(operation, wake)
    }

    /// Returns the token's delay, if it fits into the time that is left.
    #[cold]
    fn delay<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) -> Option<(Duration, Waited)> {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        let TokenState::Held(token) = &*guard.token else { return None };
        let delay = token.delay();
        operation.stopped = operation.limits.is_over(delay, self.timer);
        if operation.stopped.is_some() {
            guard.give_up();
            return None;
        }
        guard.disarm();
        Some((delay, Waited::ForDelay))
    }

    /// Asks the strategy whether the attempt may be sent. Returns the wait before the next question; `None` once the
    /// attempt is due, or will never be.
    #[inline(always)]
    fn ask<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        wake: Option<Arc<EarlyWake>>,
    ) -> Option<(Duration, Waited)> {
        if operation.stopped.is_some() {
            return None;
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        if let TokenState::Held(token) = &mut *guard.token {
            let waker = LazyWaker::new(wake);
            if let Some(wait) = self.strategy.ready(token, self.timer, Some(&waker)).wait() {
                guard.disarm();
                return self.held_back(operation, wait, waker.into_early_wake());
            }
        }
        operation.stopped = operation.limits.is_over(Duration::ZERO, self.timer);
        if operation.stopped.is_some() {
            guard.give_up();
            return None;
        }
        let attempt = guard.token.attempts();
        self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted);
        guard.disarm();
        None
    }

    /// Returns how long a limiter holds the attempt back; `None` if that is longer than the operation may take.
    #[cold]
    fn held_back<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        wait: Duration,
        wake: Option<Arc<EarlyWake>>,
    ) -> Option<(Duration, Waited)> {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        // A wait that can end early is a bound, so it is shortened to the time that is left. Any other one has to fit.
        let allowed = if wake.is_some() {
            operation.limits.shorten(wait, self.timer)
        } else {
            operation.limits.is_over(wait, self.timer).map_or(Ok(wait), Err)
        };
        match allowed {
            Ok(wait) => {
                let attempt = guard.token.attempts();
                self.tell(&operation.observed, Level::Trace, attempt, || EventKind::Limited { wait });
                guard.disarm();
                Some((wait, Waited::ForLimiter(wake)))
            }
            Err(cut) => {
                operation.stopped = Some(cut);
                guard.give_up();
                None
            }
        }
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
        let mut standing = StandingClock::default();
        let mut next = self.first_wait(operation);
        while let Some((wait, waits_for)) = next {
            let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
            let wake = match waits_for {
                Waited::ForLimiter(wake) => {
                    let is_woken = wake.as_ref().is_some_and(|wake| wake.register(&unparks_this_thread()));
                    if !is_woken {
                        self.timer.park(wait);
                    }
                    wake
                }
                Waited::ForDelay | Waited::ForNothing => {
                    self.timer.block(wait);
                    None
                }
            };
            let send = standing.is_exhausted_at(self.timer.now());
            if send {
                let attempt = guard.token.attempts();
                self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted);
            }
            guard.disarm();
            if send {
                break;
            }
            next = self.next_wait(operation, wake);
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
