//! One retried call: the only state machine. It says how long to wait, when to make an attempt, and when to return;
//! whoever drives it sleeps and calls.

mod attempt;
mod wait;

pub(crate) use attempt::{Attempt, Deadline};
pub(crate) use wait::Wait;

use crate::around::{Around, Watch};
use crate::observe::EventKind;
use crate::observe::trace::Level;
use crate::policy::RetryDirective;
use crate::strategy::{Failure, RetryError, RetryStrategy, RetryToken};
use crate::time::Clock;
use crate::time_limit::{Limit, Limits, Unlimited};
use std::ops::ControlFlow;
use std::time::Duration;
use wait::Guard;

/// One call of a retried function: plain data that borrows nothing, so that nothing of the strategy is held while the
/// body runs.
///
/// `begin`, then in turns: `Wait`s until there is none, an attempt, `settle` until it says done.
#[derive(Debug)]
pub struct Operation<K, L: Limit = Unlimited, N = ()> {
    token: Token<K>,
    limits: L,
    /// Its time was up before an attempt could begin.
    stopped: Option<L::Cut>,
    notes: N,
}

/// The token of an operation.
#[derive(Debug)]
enum Token<K> {
    /// For the attempt to come, or under way.
    Held(K),
    /// The strategy gave none: one attempt is made, of which nothing is learned.
    Refused,
    /// It went back to the strategy.
    Gone,
    /// It was given up, because the time was up; so many attempts had been made.
    Unsent(u32),
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

impl<K> Token<K> {
    #[inline]
    fn take(&mut self) -> Self {
        std::mem::replace(self, Self::Gone)
    }
}

impl<K: RetryToken, L: Limit, N> Operation<K, L, N> {
    #[inline]
    pub(crate) fn begin<S, T, W>(strategy: &S, mut limits: L, around: &Around<'_, T, W>) -> Self
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        limits.start(around.timer);
        let notes = around.begin();
        let token = match strategy.acquire_initial_token(around.timer) {
            Ok(token) => Token::Held(token),
            Err(reason) => {
                around.tell(&notes, Level::Warn, 1, || EventKind::Refused { reason });
                Token::Refused
            }
        };
        Self { token, limits, stopped: None, notes }
    }

    /// Tells the strategy what an attempt came to, by what the policy made of its outcome.
    #[inline]
    pub(crate) fn settle<S, T, W>(
        &mut self,
        strategy: &S,
        directive: RetryDirective,
        around: &Around<'_, T, W>,
    ) -> Settled
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        match directive {
            RetryDirective::Succeed => self.succeed(strategy, around),
            directive => self.fail(strategy, directive, around),
        }
    }

    #[inline]
    fn succeed<S, T, W>(&mut self, strategy: &S, around: &Around<'_, T, W>) -> Settled
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        let (attempts, recorded) = match self.token.take() {
            Token::Held(token) => (token.attempt(), strategy.record_success(token, around.timer).is_ok()),
            _ => (1, false),
        };
        let level = match (recorded, attempts) {
            (true, 1) => Level::Trace,
            (true, _) => Level::Debug,
            (false, _) => Level::Warn,
        };
        around.tell(&self.notes, level, attempts, || EventKind::Succeeded { recorded, quota: strategy.quota_level() });
        Settled::Done { attempts, reason: None }
    }

    // Out of line, and yet not marked as cold, which would also keep what it calls out of line.
    #[inline(never)]
    fn fail<S, T, W>(&mut self, strategy: &S, directive: RetryDirective, around: &Around<'_, T, W>) -> Settled
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        let remaining = self.limits.remaining(around.timer);
        let failure = Failure::from_directive(directive).with_remaining(remaining);
        let Token::Held(token) = self.token.take() else {
            around.tell(&self.notes, Level::Debug, 1, || EventKind::AttemptFailed { failure });
            return self.stopped(strategy, &failure, 1, RetryError::Refused, around);
        };
        let attempts = token.attempt();
        around.tell(&self.notes, Level::Debug, attempts, || EventKind::AttemptFailed { failure });
        match strategy.refresh_retry_token(token, &failure, around.timer) {
            Ok(token) => {
                self.token = Token::Held(token);
                self.scheduled(strategy, &failure, attempts, around);
                Settled::Again
            }
            Err(reason) => self.stopped(strategy, &failure, attempts, reason, around),
        }
    }

    #[inline]
    fn scheduled<S, T, W>(&mut self, strategy: &S, failure: &Failure, attempt: u32, around: &Around<'_, T, W>)
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        // Should the observer panic, the retry is given up.
        let guard = Guard::new(&mut self.token, strategy);
        if let Token::Held(token) = guard.token() {
            around.tell(&self.notes, Level::Debug, attempt, || EventKind::RetryScheduled {
                error_type: failure.error_type(),
                delay: token.delay(),
                delay_source: token.delay_source(),
                quota: strategy.quota_level(),
            });
        }
        guard.disarm();
    }

    #[inline]
    fn stopped<S, T, W>(
        &self,
        strategy: &S,
        failure: &Failure,
        attempts: u32,
        reason: RetryError,
        around: &Around<'_, T, W>,
    ) -> Settled
    where
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        let level = if reason == RetryError::NotRetryable { Level::Debug } else { Level::Warn };
        around.tell(&self.notes, level, attempts, || EventKind::Stopped {
            reason,
            error_type: failure.error_type(),
            quota: strategy.quota_level(),
        });
        Settled::Done { attempts, reason: Some(reason) }
    }

    /// Drops an outcome that another attempt follows, or keeps it where it may be needed later.
    ///
    /// Should its `Drop` panic, the attempt that was paid for is given up.
    #[inline]
    pub(crate) fn keep<R, S>(&mut self, strategy: &S, last: &mut L::Last, outcome: R)
    where
        L: Limits<R>,
        S: RetryStrategy<Token = K>,
    {
        let guard = Guard::new(&mut self.token, strategy);
        L::keep(last, outcome);
        guard.disarm();
    }

    /// An attempt was cut, or not made: it goes on with the outcome of that, or breaks off with the outcome of the
    /// operation.
    #[cold]
    pub(crate) fn cut<R, S, T, W>(
        &mut self,
        strategy: &S,
        cut: L::Cut,
        last: &mut L::Last,
        around: &Around<'_, T, W>,
    ) -> ControlFlow<R, R>
    where
        L: Limits<R>,
        S: RetryStrategy<Token = K>,
        T: Clock,
        W: Watch<Notes = N> + ?Sized,
    {
        let flow = L::cut(cut, last);
        if flow.is_break() {
            // The strategy never sees the token of an attempt that was cut: nothing is learned of it, and nothing given back.
            around.tell(&self.notes, Level::Warn, self.attempts(), || EventKind::Stopped {
                reason: RetryError::MaxTime,
                error_type: None,
                quota: strategy.quota_level(),
            });
        }
        flow
    }

    /// How long the attempt that begins now may take.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limits.next_cut().map(|(time, _)| time)
    }

    /// How many attempts there were, that under way included.
    pub(crate) fn attempts(&self) -> u32 {
        match &self.token {
            Token::Held(token) => token.attempt(),
            Token::Refused | Token::Gone => 1,
            Token::Unsent(attempts) => *attempts,
        }
    }
}
