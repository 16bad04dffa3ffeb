//! One retried call: the only state machine. It says how long to wait, when to make an attempt, and when to return;
//! whoever drives it sleeps and calls.

use crate::observe;
use crate::policy::RetryDirective;
use crate::strategy::{Failure, Ready, RetryError, RetryStrategy, RetryToken};
use crate::time::{BoxSleep, Clock, Timer};
use std::time::Duration;

/// One call of a retried function: plain data that borrows nothing, so that nothing of the strategy is held while the
/// body runs.
///
/// `begin`, then in turns: `wait_left` until there is none, an attempt, `settle` until it says done. Whoever gives up
/// while there is a wait left calls `abandon`.
#[derive(Debug)]
pub struct Operation<K> {
    /// None if the strategy refused the initial token, and once it has been handed in.
    token: Option<K>,
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
    pub(crate) fn begin<S>(strategy: &S, clock: &dyn Clock, name: &'static str) -> Self
    where
        S: RetryStrategy<Token = K>,
    {
        let token = strategy.acquire_initial_token(clock).map_err(|reason| observe::refused(name, reason)).ok();
        Self { token }
    }

    /// How long to wait before asking again; `None` if the attempt may be sent now.
    #[inline]
    pub(crate) fn wait_left<S>(&mut self, strategy: &S, clock: &dyn Clock) -> Option<Duration>
    where
        S: RetryStrategy<Token = K>,
    {
        match strategy.ready(self.token.as_mut()?, clock) {
            Ready::After(delay) if !delay.is_zero() => Some(delay),
            Ready::After(_) | Ready::Now => None,
        }
    }

    /// The attempt that the operation waits for will not be sent.
    #[cold]
    pub(crate) fn abandon<S>(&mut self, strategy: &S)
    where
        S: RetryStrategy<Token = K>,
    {
        if let Some(token) = self.token.take() {
            strategy.release(token);
        }
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
        // Without a token, one attempt was made of which nothing is learned.
        let Some(token) = self.token.take() else { return Settled::Done { attempts: 1, reason: None } };
        let attempts = token.attempt();
        let recorded = strategy.record_success(token, clock);
        if attempts > 1 || recorded.is_err() {
            observe::succeeded(name, attempts, recorded.is_err());
        }
        Settled::Done { attempts, reason: None }
    }

    #[cold]
    fn fail<S>(&mut self, strategy: &S, directive: RetryDirective, clock: &dyn Clock, name: &'static str) -> Settled
    where
        S: RetryStrategy<Token = K>,
    {
        let failure = Failure::from_directive(directive);
        let Some(token) = self.token.take() else {
            let reason = RetryError::Refused;
            observe::stopped(name, 1, &failure, reason);
            return Settled::Done { attempts: 1, reason: Some(reason) };
        };
        let attempts = token.attempt();
        match strategy.refresh_retry_token(token, &failure, clock) {
            Ok(token) => {
                observe::retry_scheduled(name, attempts, &failure, token.delay());
                self.token = Some(token);
                Settled::Again
            }
            Err(reason) => {
                observe::stopped(name, attempts, &failure, reason);
                Settled::Done { attempts, reason: Some(reason) }
            }
        }
    }
}

/// Holds an operation while it waits: dropped meanwhile, the attempt that it waited for is given up.
#[derive(Debug)]
pub struct Wait<'a, S: RetryStrategy, T> {
    operation: &'a mut Operation<S::Token>,
    strategy: &'a S,
    timer: &'a T,
    waiting: bool,
}

impl<'a, S: RetryStrategy, T: Timer> Wait<'a, S, T> {
    #[inline]
    pub(crate) fn new(operation: &'a mut Operation<S::Token>, strategy: &'a S, timer: &'a T) -> Self {
        Self { operation, strategy, timer, waiting: true }
    }

    /// What to sleep before asking again; `None` once the attempt is due, which must follow at once.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<BoxSleep<T>> {
        let delay = self.operation.wait_left(self.strategy, self.timer);
        self.waiting = delay.is_some();
        Some(sleep(self.timer, delay?))
    }
}

impl<S: RetryStrategy, T> Drop for Wait<'_, S, T> {
    #[inline]
    fn drop(&mut self) {
        if self.waiting {
            self.operation.abandon(self.strategy);
        }
    }
}

#[cold]
pub(crate) fn sleep<T: Timer>(timer: &T, delay: Duration) -> BoxSleep<T> {
    Box::pin(timer.sleep(delay))
}
