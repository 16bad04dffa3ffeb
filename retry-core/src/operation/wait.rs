//! The wait before an attempt.

use super::{Operation, Token};
use crate::around::{Around, Watch};
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::strategy::{RetryStrategy, RetryToken};
use crate::time::{BlockingTimer, BoxSleep, Clock, Timer, Timestamp};
use crate::time_limit::Limit;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// The wait of an operation. If it is dropped before it is over, the attempt that follows it is given up.
///
/// It borrows the strategy while it waits, and only then.
#[must_use = "futures do nothing unless polled"]
pub struct Wait<'a, S: RetryStrategy, T: Timer> {
    /// None once the wait is over. It comes before the sleep, so that it is dropped first.
    guard: Option<Guard<'a, S>>,
    /// None once it is ready.
    sleep: Option<BoxSleep<T>>,
    /// Whether it has to return to the executor before it is over.
    yields: bool,
}

impl<'a, S: RetryStrategy, T: Timer> Wait<'a, S, T> {
    /// What is to be waited for before asking again; `None` once the attempt is due, which must follow at once.
    #[inline]
    pub(crate) fn next<L: Limit, W: Watch + ?Sized>(
        operation: &'a mut Operation<S::Token, L, W::Notes>,
        strategy: &'a S,
        around: &Around<'_, T, W>,
    ) -> Option<Self> {
        let delay = operation.delay(strategy, around)?;
        Some(Self::new(&mut operation.token, strategy, around.timer, delay))
    }

    #[cold]
    fn new(token: &'a mut Token<S::Token>, strategy: &'a S, timer: &T, delay: Duration) -> Self {
        let guard = Guard::new(token, strategy);
        let sleep = Some(Box::pin(timer.sleep(delay)));
        // A limiter is asked again after each wait. Where sleeps are over at once and the clock stands still, it would be
        // asked for ever within one poll, and nothing around the operation could end it.
        let yields = matches!(&guard.token, Token::Held(token) if token.is_limited());
        Self { guard: Some(guard), sleep, yields }
    }
}

impl<S: RetryStrategy, T: Timer> Future for Wait<'_, S, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let yields = std::mem::take(&mut self.yields);
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(context));
            // The sleep is dropped under the guard: if that panics, the attempt is given up.
            self.sleep = None;
            if yields {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
        }
        if let Some(guard) = self.guard.take() {
            guard.disarm();
        }
        Poll::Ready(())
    }
}

impl<K: RetryToken, L: Limit, N> Operation<K, L, N> {
    /// How long to wait before asking again; `None` once the attempt is due, or will never be.
    #[inline]
    fn delay<S, T, W>(&mut self, strategy: &S, around: &Around<'_, T, W>) -> Option<Duration>
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        let guard = Guard::new(&mut self.token, strategy);
        let (attempt, wait, limited) = match guard.token {
            Token::Held(token) => {
                let wait = strategy.ready(token, around.timer).wait();
                (token.attempt(), wait, wait.is_some() && token.is_limited())
            }
            _ => (1, None, false),
        };
        self.stopped = self.limits.is_over(wait.unwrap_or_default(), around.timer);
        if self.stopped.is_some() {
            drop(guard);
            self.token = Token::Unsent(attempt.saturating_sub(1));
            return None;
        }
        match wait {
            None => around.tell(&self.notes, Level::Trace, attempt, || EventKind::AttemptStarted),
            Some(wait) if limited => {
                around.tell(&self.notes, Level::Trace, attempt, || EventKind::Limited { wait });
            }
            Some(_) => {}
        }
        guard.disarm();
        wait
    }

    /// Blocks the thread until the attempt is due, or says what keeps it from being made.
    ///
    /// A thread can't yield as a task can. Where the clock stands still, the attempt is sent after [`MAX_QUESTIONS`].
    pub(crate) fn block<S, T, W>(&mut self, strategy: &S, around: &Around<'_, T, W>) -> Option<L::Cut>
    where
        S: RetryStrategy<Token = K>,
        T: BlockingTimer,
        W: Watch<Notes = N> + ?Sized,
    {
        let mut standing = StandingClock::default();
        while let Some(delay) = self.delay(strategy, around) {
            let guard = Guard::new(&mut self.token, strategy);
            around.timer.block(delay);
            let send = standing.still_after(around.timer.now());
            if send && let Token::Held(token) = guard.token() {
                around.tell(&self.notes, Level::Trace, token.attempt(), || EventKind::AttemptStarted);
            }
            guard.disarm();
            if send {
                break;
            }
        }
        self.stopped
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
    /// Counts a question after which the clock shows this time. Returns whether it has been one too many.
    fn still_after(&mut self, now: Timestamp) -> bool {
        if self.latest.is_some_and(|latest| latest == now) {
            self.questions += 1;
        } else {
            *self = Self { latest: Some(now), questions: 1 };
        }
        self.questions >= MAX_QUESTIONS
    }
}

/// Gives an attempt up, unless it is disarmed. It comes before anything of the user's that may panic: a strategy's
/// answer, a timer, a sleep, an observer.
pub(super) struct Guard<'a, S: RetryStrategy> {
    token: &'a mut Token<S::Token>,
    strategy: &'a S,
}

impl<'a, S: RetryStrategy> Guard<'a, S> {
    #[inline]
    pub(super) fn new(token: &'a mut Token<S::Token>, strategy: &'a S) -> Self {
        Self { token, strategy }
    }

    pub(super) fn token(&self) -> &Token<S::Token> {
        self.token
    }

    #[inline]
    pub(super) fn disarm(self) {
        std::mem::forget(self);
    }
}

impl<S: RetryStrategy> Drop for Guard<'_, S> {
    #[inline]
    fn drop(&mut self) {
        if let Token::Held(token) = self.token.take() {
            self.strategy.release(token);
        }
    }
}
