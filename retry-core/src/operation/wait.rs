//! The waits before an attempt: the token's delay, once, and what a limiter asks for.

use super::record::SkippedWait;
use super::release::{ReleaseGuard, TokenState};
use super::{Call, Operation, OperationOf, OptionalObserver, TimeLimits};
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::strategy::{EarlyWake, LazyWaker, RetryStrategy, RetryToken};
use crate::support::sync::{Thread, current_thread};
use crate::time::{BlockingTimer, Clock, Timer, Timestamp};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker, ready};
use std::time::Duration;

/// A wait of an operation. If it is dropped before it is over, the attempt that follows it is given up.
///
/// It borrows the strategy while it waits, and only then.
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'a, S: RetryStrategy, Z> {
    /// None once the wait is over. It comes before the sleep, so that it is dropped first.
    guard: Option<ReleaseGuard<'a, S>>,
    /// None once it is ready.
    sleep: Option<Pin<Box<Z>>>,
    reason: Reason,
    was_polled: bool,
}

/// What an attempt waits for.
enum Reason {
    /// The token's delay, which nothing ends early.
    Delay,
    /// A limiter, which can end the wait early if it asked for a waker.
    Limiter(Option<EarlyWake>),
    /// Any of these, and a test skips the wait.
    Skipped(SkippedWait),
}

impl<'a, S: RetryStrategy, Z> Wait<'a, S, Z> {
    #[cold]
    fn new<L: TimeLimits, N>(
        operation: &'a mut Operation<S::Token, L, N>,
        strategy: &'a S,
        timer: &impl Timer<Sleep = Z>,
        (delay, reason): (Duration, Reason),
    ) -> Self {
        let reason = skipped(operation, delay, reason);
        let guard = ReleaseGuard::new(&mut operation.token, strategy);
        let sleep = match reason {
            Reason::Skipped(_) => None,
            Reason::Delay | Reason::Limiter(_) => Some(Box::pin(timer.sleep(delay))),
        };
        Self { guard: Some(guard), sleep, reason, was_polled: false }
    }
}

impl<S: RetryStrategy, Z: Future<Output = ()>> Future for Wait<'_, S, Z> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let is_first_poll = !std::mem::replace(&mut this.was_polled, true);
        if let Some(sleep) = &mut this.sleep {
            let is_woken = matches!(&this.reason, Reason::Limiter(Some(wake)) if wake.register(context.waker()));
            if !is_woken {
                ready!(sleep.as_mut().poll(context));
            }
            // The sleep is dropped under the guard: if that panics, the attempt is given up.
            this.sleep = None;
            // A limiter is asked again after each wait. Where sleeps are over at once and the clock stands still, it would
            // be asked for ever within one poll, and nothing around the operation could end it.
            if is_first_poll && matches!(this.reason, Reason::Limiter(_)) {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Reason::Skipped(wait) = &this.reason {
            if is_first_poll {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            wait.end();
        }
        if let Some(guard) = this.guard.take() {
            guard.disarm();
        }
        Poll::Ready(())
    }
}

impl<'c, S: RetryStrategy, T: Timer + Copy, O: OptionalObserver + Copy> Call<'c, S, T, O> {
    /// Returns the next wait before an attempt; `None` once the attempt is due, or will never be. `is_delayed` says
    /// whether the token's delay is still to be slept.
    #[expect(clippy::inline_always, reason = "every attempt passes here, and without it nothing of it folds away")]
    #[inline(always)]
    pub(crate) fn wait<L: TimeLimits>(
        self,
        operation: &'c mut OperationOf<S, L, O>,
        is_delayed: bool,
    ) -> Option<Wait<'c, S, T::Sleep>> {
        let wait = self.next_wait(operation, is_delayed)?;
        Some(Wait::new(operation, self.strategy, &self.timer(), wait))
    }
}

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Returns how long to wait next before an attempt, and what for; `None` once the attempt is due, or will never be.
    ///
    /// What an attempt without delay and limiter passes is inlined. The rest is cold.
    #[expect(clippy::inline_always, reason = "every attempt passes here, and without it nothing of it folds away")]
    #[inline(always)]
    fn next_wait<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        is_delayed: bool,
    ) -> Option<(Duration, Reason)> {
        if operation.stopped.is_some() {
            return None;
        }
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        if let TokenState::Held(token) = &mut *guard.token {
            if is_delayed && !token.delay().is_zero() {
                guard.disarm();
                return self.delay(operation);
            }
            let waker = LazyWaker::new();
            if let Some(wait) = self.strategy.ready(token, &self.clock(), Some(&waker)).wait() {
                guard.disarm();
                return self.hold_back(operation, wait, waker.into_early_wake());
            }
        }
        operation.stopped = operation.limits.is_over(Duration::ZERO, &self.timer());
        if operation.stopped.is_some() {
            guard.give_up();
            return None;
        }
        let attempt = guard.token.attempts();
        operation.record.attempted(attempt);
        self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted);
        guard.disarm();
        None
    }

    /// Returns the token's delay; `None` if it is longer than the operation may take.
    #[cold]
    fn delay<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) -> Option<(Duration, Reason)> {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        let TokenState::Held(token) = &*guard.token else { return None };
        let delay = token.delay();
        operation.stopped = operation.limits.is_over(delay, &self.timer());
        if operation.stopped.is_some() {
            guard.give_up();
            return None;
        }
        guard.disarm();
        Some((delay, Reason::Delay))
    }

    /// Returns how long a limiter holds the attempt back; `None` if that is longer than the operation may take.
    #[cold]
    fn hold_back<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        wait: Duration,
        wake: Option<EarlyWake>,
    ) -> Option<(Duration, Reason)> {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        // A wait that can end early is a bound, so it is shortened to the time that is left. Any other one has to fit.
        let allowed = if wake.is_some() {
            operation.limits.shorten(wait, &self.timer())
        } else {
            operation.limits.is_over(wait, &self.timer()).map_or(Ok(wait), Err)
        };
        match allowed {
            Ok(wait) => {
                let attempt = guard.token.attempts();
                self.tell(&operation.observed, Level::Trace, attempt, || EventKind::Limited { wait });
                guard.disarm();
                Some((wait, Reason::Limiter(wake)))
            }
            Err(cut) => {
                operation.stopped = Some(cut);
                guard.give_up();
                None
            }
        }
    }
}

/// Returns the reason of a wait that begins, or that it is skipped. Its time counts all the same.
#[inline]
fn skipped<K, L: TimeLimits, N>(operation: &mut Operation<K, L, N>, delay: Duration, reason: Reason) -> Reason {
    match SkippedWait::begin(delay) {
        Some(wait) => {
            operation.limits.skip(delay);
            Reason::Skipped(wait)
        }
        None => reason,
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

impl<S: RetryStrategy, T: BlockingTimer + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Blocks the thread until the attempt is due, or returns what keeps it from being made.
    ///
    /// A thread can't yield as a task can. If the clock stands still, the attempt is sent after [`MAX_STANDING_WAITS`].
    pub(crate) fn block<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>) -> Option<L::Cut> {
        let (mut is_delayed, mut standing) = (true, StandingClock::default());
        while let Some((wait, reason)) = self.next_wait(operation, is_delayed) {
            is_delayed = false;
            let reason = skipped(operation, wait, reason);
            let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
            let send = match reason {
                Reason::Skipped(wait) => {
                    wait.end();
                    false
                }
                Reason::Delay => {
                    self.timer().block(wait);
                    false
                }
                Reason::Limiter(wake) => {
                    let is_woken = self.park(wait, wake.as_ref());
                    !is_woken && standing.is_exhausted_at(self.timer().now())
                }
            };
            if send {
                let attempt = guard.token.attempts();
                self.tell(&operation.observed, Level::Trace, attempt, || EventKind::AttemptStarted);
            }
            guard.disarm();
            if send {
                break;
            }
        }
        operation.stopped
    }

    /// Parks the thread until the wait is over, and returns whether the strategy ended it early.
    fn park(self, wait: Duration, wake: Option<&EarlyWake>) -> bool {
        if wake.is_none_or(|wake| !wake.register(&unparks_this_thread())) {
            self.timer().park(wait);
        }
        wake.is_some_and(EarlyWake::is_woken)
    }
}

/// How many waits of a blocking call may run to their end at one reading of the clock. A wait that the strategy ended
/// early is not counted: a coarse clock may show the same time after it.
const MAX_STANDING_WAITS: u32 = 100;

/// Counts waits during which a clock stood still.
#[derive(Default)]
struct StandingClock {
    latest: Option<Timestamp>,
    waits: u32,
}

impl StandingClock {
    /// Counts a wait after which the clock shows this time. Returns whether it was the last one allowed.
    fn is_exhausted_at(&mut self, now: Timestamp) -> bool {
        if self.latest == Some(now) {
            self.waits += 1;
        } else {
            *self = Self { latest: Some(now), waits: 1 };
        }
        self.waits >= MAX_STANDING_WAITS
    }
}

fn unparks_this_thread() -> Waker {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    Waker::from(Arc::new(Unpark(current_thread())))
}
