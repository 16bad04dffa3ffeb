//! One retried call: the only state machine. It says how long to wait, when to make an attempt, and when to return;
//! whoever drives it sleeps and calls.

use crate::observe;
use crate::policy::RetryDirective;
use crate::strategy::{Failure, RetryError, RetryStrategy, RetryToken};
use crate::time::{BoxSleep, Clock, Timer};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// One call of a retried function: plain data that borrows nothing, so that nothing of the strategy is held while the
/// body runs.
///
/// `begin`, then in turns: `wait_left` until there is none, an attempt, `settle` until it says done. Whoever gives up
/// while there is a wait left calls `abandon`.
#[derive(Debug)]
pub struct Operation<K> {
    token: Token<K>,
}

/// The token of an operation.
#[derive(Debug)]
enum Token<K> {
    /// For the attempt to come, or under way.
    Held(K),
    /// The strategy gave none: one attempt is made, of which nothing is learned.
    Refused(RetryError),
    /// It went back to the strategy.
    Gone,
}

/// What an outcome leads to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Settled {
    /// Another attempt. The outcome should be dropped before the wait.
    Again,
    /// The outcome is final.
    Done {
        /// How many attempts there were.
        attempts: u32,
        /// Why there was no other; none after a success.
        reason: Option<RetryError>,
    },
}

impl<K: RetryToken> Operation<K> {
    #[inline]
    pub(crate) fn begin<S>(strategy: &S, clock: &dyn Clock) -> Self
    where
        S: RetryStrategy<Token = K>,
    {
        Self { token: strategy.acquire_initial_token(clock).map_or_else(Token::Refused, Token::Held) }
    }

    /// How long to wait before asking again; `None` if the attempt may be sent now.
    #[inline]
    pub(crate) fn wait_left<S>(&mut self, strategy: &S, clock: &dyn Clock) -> Option<Duration>
    where
        S: RetryStrategy<Token = K>,
    {
        let Token::Held(token) = &mut self.token else { return None };
        strategy.ready(token, clock).wait()
    }

    /// The attempt that the operation waits for will not be sent.
    #[cold]
    pub(crate) fn abandon<S>(&mut self, strategy: &S)
    where
        S: RetryStrategy<Token = K>,
    {
        if let Token::Held(token) = self.take() {
            strategy.release(token);
        }
    }

    #[inline]
    fn take(&mut self) -> Token<K> {
        std::mem::replace(&mut self.token, Token::Gone)
    }

    /// Tells the strategy what an attempt came to, by what the policy made of its outcome.
    #[inline]
    pub(crate) fn settle<S>(
        &mut self,
        strategy: &S,
        directive: RetryDirective,
        clock: &dyn Clock,
        name: &'static str,
    ) -> Settled
    where
        S: RetryStrategy<Token = K>,
    {
        match directive {
            RetryDirective::Succeed => self.succeed(strategy, clock, name),
            directive => self.fail(strategy, directive, clock, name),
        }
    }

    #[inline]
    fn succeed<S>(&mut self, strategy: &S, clock: &dyn Clock, name: &'static str) -> Settled
    where
        S: RetryStrategy<Token = K>,
    {
        let token = match self.take() {
            Token::Held(token) => token,
            other => {
                other.report(name);
                return Settled::Done { attempts: 1, reason: None };
            }
        };
        let attempts = token.attempt();
        let recorded = strategy.record_success(token, clock);
        if attempts > 1 || recorded.is_err() {
            observe::succeeded(name, attempts, recorded.is_err());
        }
        Settled::Done { attempts, reason: None }
    }

    // Out of line, and yet not marked as cold, which would also keep what it calls out of line.
    #[inline(never)]
    fn fail<S>(&mut self, strategy: &S, directive: RetryDirective, clock: &dyn Clock, name: &'static str) -> Settled
    where
        S: RetryStrategy<Token = K>,
    {
        let failure = Failure::from_directive(directive);
        let token = match self.take() {
            Token::Held(token) => token,
            other => {
                other.report(name);
                let reason = RetryError::Refused;
                observe::stopped(name, 1, &failure, reason);
                return Settled::Done { attempts: 1, reason: Some(reason) };
            }
        };
        let attempts = token.attempt();
        match strategy.refresh_retry_token(token, &failure, clock) {
            Ok(token) => {
                observe::retry_scheduled(name, attempts, &failure, token.delay());
                self.token = Token::Held(token);
                Settled::Again
            }
            Err(reason) => {
                observe::stopped(name, attempts, &failure, reason);
                Settled::Done { attempts, reason: Some(reason) }
            }
        }
    }
}

impl<K> Token<K> {
    #[cold]
    fn report(&self, name: &'static str) {
        if let Self::Refused(reason) = self {
            observe::refused(name, *reason);
        }
    }
}

/// An operation that waits: dropped meanwhile, the attempt that it waits for is given up.
///
/// It borrows the strategy while it waits, and only then.
#[must_use = "futures do nothing unless polled"]
pub(crate) struct Wait<'a, S: RetryStrategy, T: Timer> {
    /// None once it is over.
    guard: Option<Guard<'a, S>>,
    sleep: BoxSleep<T>,
}

impl<'a, S: RetryStrategy, T: Timer> Wait<'a, S, T> {
    /// What is to be waited for before asking again; `None` once the attempt is due, which must follow at once.
    #[inline]
    pub(crate) fn next(operation: &'a mut Operation<S::Token>, strategy: &'a S, timer: &T) -> Option<Self> {
        let guard = Guard { operation: &mut *operation, strategy };
        let delay = guard.operation.wait_left(strategy, timer);
        std::mem::forget(guard);
        Some(Self::new(operation, strategy, timer, delay?))
    }

    #[cold]
    fn new(operation: &'a mut Operation<S::Token>, strategy: &'a S, timer: &T, delay: Duration) -> Self {
        let guard = Guard { operation, strategy };
        let sleep = Box::pin(timer.sleep(delay));
        Self { guard: Some(guard), sleep }
    }
}

impl<S: RetryStrategy, T: Timer> Future for Wait<'_, S, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        ready!(self.sleep.as_mut().poll(context));
        std::mem::forget(self.guard.take());
        Poll::Ready(())
    }
}

/// Gives an attempt up, unless it is forgotten. It comes before anything of the user's that may panic: a strategy's
/// answer, a timer, a sleep.
struct Guard<'a, S: RetryStrategy> {
    operation: &'a mut Operation<S::Token>,
    strategy: &'a S,
}

impl<S: RetryStrategy> Drop for Guard<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.operation.abandon(self.strategy);
    }
}
