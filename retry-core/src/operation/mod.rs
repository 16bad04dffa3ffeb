//! The state machine of one retried call. It decides how long to wait, when to make an attempt, and when to return. Its
//! driver sleeps and runs the body.
//!
//! The drivers are the loop that the attribute writes, the runs of closures in `retry`, and the futures in `tower`.

mod attempt;
mod call;
mod context;
mod identity;
mod long_polling;
mod name;
mod observed;
mod record;
mod release;
mod time_limits;
mod unknown;
#[cfg(feature = "tower")]
mod unsent;
mod wait;

pub(crate) use attempt::DeadlineAndSleep;
pub use attempt::{Attempt, Deadline, RunAttempt};
pub use call::{Call, ObservedState, OptionalObserver, Unobserved};
pub use context::{AttemptContext, ContextState};
pub use identity::{Beginning, Identified, UnobservedId};
pub use long_polling::{LongPolling, PollCut, RefusedPoll};
pub use name::{FunctionName, Name};
pub use release::ReleaseGuard;
pub use time_limits::{AttemptTimeout, LimitsOn, MaxTime, NoSleep, OutOfTime, TimeLimits, Unlimited};
pub use wait::{Wait, Waiting};

use crate::observe::trace::Level;
use crate::observe::{Event, EventKind, OperationId};
use crate::policy::{RetryDirective, RetryErrorType, Success};
use crate::strategy::{self, Failure, RetryError, RetryStrategy, RetryToken};
use crate::time::Clock;
use observed::Observed;
use record::Record;
use release::TokenState;
use std::ops::ControlFlow;
use std::time::Duration;

/// The state of one retried call. It borrows nothing, so that no part of the strategy is borrowed while the body runs.
///
/// A driver calls `begin` once. Then it repeats these steps: `delay` if the token `is_delayed`, `wait` until there is
/// nothing to wait for, the body, `settle`, and `keep` unless the outcome is final.
#[derive(Debug)]
pub struct Operation<K, L: TimeLimits, N> {
    token: TokenState<K>,
    limits: L,
    /// The time limit that was over before an attempt could begin.
    stopped: Option<L::Cut>,
    /// The state of the observer.
    observed: Observed<N>,
    record: Record,
}

/// The operation of a call with this strategy, these limits and this observer.
pub(crate) type OperationOf<S, L, O> = Operation<<S as RetryStrategy>::Token, L, <O as OptionalObserver>::State>;

/// The decision about an outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decision {
    /// Another attempt follows. The driver passes the outcome to [`Call::keep`].
    Retry,
    /// The outcome is final.
    Stop {
        /// The number of attempts that were made.
        attempts: u32,
        /// The reason why there is no further attempt; `None` after a success.
        reason: Option<RetryError>,
    },
}

impl<S: RetryStrategy, T: Clock + Copy, O: OptionalObserver + Copy> Call<'_, S, T, O> {
    /// Begins an operation: starts the time limits and the observation, and acquires the initial token.
    #[inline]
    pub(crate) fn begin<L: TimeLimits>(self, mut limits: L) -> OperationOf<S, L, O> {
        limits.start(&self.timer());
        let observed = self.observe();
        let record = Record::begin(self.name());
        let token = match self.strategy.acquire_initial_token(&self.clock()) {
            Ok(token) => TokenState::Held(token),
            Err(reason) => {
                self.tell(&observed, Level::Warn, 1, || EventKind::Refused { reason });
                TokenState::Refused
            }
        };
        Operation { token, limits, stopped: None, observed, record }
    }

    /// Passes the policy's directive for an outcome to the strategy, and returns the decision.
    #[inline]
    pub(crate) fn settle<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        directive: RetryDirective,
    ) -> Decision {
        match directive {
            RetryDirective::Succeed { success } => self.succeed(operation, success),
            // By reference, so that a success does not write a directive to memory.
            directive @ (RetryDirective::Retry { .. } | RetryDirective::Fail { .. }) => {
                let attempts = operation.attempts();
                match self.fail(operation, &directive) {
                    Ok(()) => Decision::Retry,
                    Err(reason) => Decision::Stop { attempts, reason: Some(reason) },
                }
            }
        }
    }

    #[inline]
    pub(crate) fn succeed<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>, success: Success) -> Decision {
        let (attempts, recorded) = match operation.token.take() {
            TokenState::Held(token) => {
                (token.attempt(), self.strategy.record_success(token, &success, &self.clock()).is_ok())
            }
            _ => (1, false),
        };
        self.tell_success(operation, attempts, recorded)
    }

    /// Reports the end of the operation after a success.
    #[inline]
    fn tell_success<L: TimeLimits>(self, operation: &OperationOf<S, L, O>, attempts: u32, recorded: bool) -> Decision {
        let level = match (recorded, attempts) {
            (true, 1) => Level::Trace,
            (true, _) => Level::Debug,
            (false, _) => Level::Warn,
        };
        self.tell(&operation.observed, level, attempts, || EventKind::Succeeded {
            recorded,
            quota: self.strategy.quota_level(),
            send_rate: self.strategy.send_rate(),
        });
        operation.record.ended(attempts, None);
        Decision::Stop { attempts, reason: None }
    }

    /// Lets the strategy decide on a failure. Returns the reason if no attempt follows.
    // Out of line, but not `#[cold]`, because the functions that it calls should still be inlined into it.
    #[inline(never)]
    fn fail<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        directive: &RetryDirective,
    ) -> Result<(), RetryError> {
        let failure = self.failure(operation, *directive);
        self.decide(operation, failure)
    }

    /// Describes a failure of an attempt that was sent.
    #[inline]
    fn failure<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>, directive: RetryDirective) -> Failure {
        Failure::from_directive(directive)
            .with_remaining(operation.limits.remaining(&self.timer()))
            .with_retries_enabled(strategy::retries_enabled())
    }

    #[inline]
    fn decide<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>, failure: Failure) -> Result<(), RetryError> {
        let attempts = self.tell_attempt_failed(operation, failure);
        // The strategy is asked before it takes the token.
        let delay = match &operation.token {
            TokenState::Held(token) if L::IS_LONG_POLLING => self.strategy.refused_delay(token, &failure),
            _ => Duration::ZERO,
        };
        let TokenState::Held(token) = operation.token.take() else {
            return Err(self.stop(operation, &failure, attempts, RetryError::Refused));
        };
        match self.strategy.refresh_retry_token(token, &failure, &self.clock()) {
            Ok(token) if !failure.retries_enabled() => {
                self.strategy.release(token);
                Err(self.stop(operation, &failure, attempts, RetryError::Disabled))
            }
            Ok(token) => {
                operation.token = TokenState::Held(token);
                self.schedule(operation, &failure, attempts);
                Ok(())
            }
            Err(RetryError::QuotaExhausted) if L::IS_LONG_POLLING && !delay.is_zero() => {
                self.hold_poll(operation, &failure, attempts, delay)
            }
            Err(reason) => Err(self.stop(operation, &failure, attempts, reason)),
        }
    }

    /// Lets a long poll wait this long before it returns. The operation goes on as if an attempt followed, which is then
    /// prevented. Returns the reason if there is no time to wait.
    #[cold]
    fn hold_poll<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        failure: &Failure,
        attempts: u32,
        delay: Duration,
    ) -> Result<(), RetryError> {
        let Ok(wait) = operation.limits.shorten(delay, &self.timer()) else {
            return Err(self.stop(operation, failure, attempts, RetryError::QuotaExhausted));
        };
        operation.token = TokenState::Unsent(attempts);
        operation.limits.refuse(RefusedPoll { error_type: failure.error_type(), wait });
        self.tell(&operation.observed, Level::Debug, attempts, || EventKind::HeldBack { wait });
        Ok(())
    }

    #[inline]
    fn schedule<L: TimeLimits>(self, operation: &mut OperationOf<S, L, O>, failure: &Failure, attempt: u32) {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        if let TokenState::Held(token) = &*guard.token {
            operation.record.delayed(token.delay());
            self.tell(&operation.observed, Level::Debug, attempt, || EventKind::RetryScheduled {
                error_type: failure.error_type(),
                delay: token.delay(),
                delay_source: token.delay_source(),
                quota: self.strategy.quota_level(),
                send_rate: self.strategy.send_rate(),
            });
        }
        guard.disarm();
    }

    /// Reports the end of the operation after a failure, and returns its reason.
    #[inline]
    fn stop<L: TimeLimits>(
        self,
        operation: &OperationOf<S, L, O>,
        failure: &Failure,
        attempts: u32,
        reason: RetryError,
    ) -> RetryError {
        self.tell_stop(operation, attempts, reason, failure.error_type());
        operation.record.ended(attempts, Some(reason));
        reason
    }

    #[inline]
    fn tell_stop<L: TimeLimits>(
        self,
        operation: &OperationOf<S, L, O>,
        attempts: u32,
        reason: RetryError,
        error_type: Option<RetryErrorType>,
    ) {
        let level = match reason {
            RetryError::NotRetryable | RetryError::Disabled | RetryError::QuotaExhausted => Level::Debug,
            _ => Level::Warn,
        };
        self.tell(&operation.observed, level, attempts, || EventKind::Stopped {
            reason,
            error_type,
            quota: self.strategy.quota_level(),
            send_rate: self.strategy.send_rate(),
        });
    }

    /// Reports a failure, and returns the number of attempts. The operation holds the token meanwhile, so that a driver can
    /// release it after a panic of the observer.
    #[inline]
    fn tell_attempt_failed<L: TimeLimits>(self, operation: &OperationOf<S, L, O>, failure: Failure) -> u32 {
        operation.record.failed(failure.error_type());
        let attempts = operation.attempts();
        self.tell(&operation.observed, Level::Debug, attempts, || EventKind::AttemptFailed { failure });
        attempts
    }

    /// Handles the outcome of an attempt that another attempt follows: drops it, or keeps it if a time limit may need
    /// it later.
    ///
    /// If its `Drop` panics, the token of the paid retry is released.
    #[inline]
    pub(crate) fn keep<R, L: LimitsOn<R>>(self, operation: &mut OperationOf<S, L, O>, last: &mut L::Last, outcome: R) {
        let guard = ReleaseGuard::new(&mut operation.token, self.strategy);
        L::keep(last, outcome);
        guard.disarm();
    }

    /// Calls the user's closure `tell` with the event that follows a failure: [`EventKind::RetryScheduled`] or
    /// [`EventKind::Stopped`]. It is not called after a success.
    ///
    /// If the closure panics before a retry, the token of that retry is released.
    pub(crate) fn tell_failure<L: TimeLimits>(
        self,
        operation: &mut OperationOf<S, L, O>,
        error_type: Option<RetryErrorType>,
        decision: Decision,
        beginning: Beginning,
        tell: impl FnOnce(&Event),
    ) {
        let (strategy, quota_and_rate) = (self.strategy, || (self.strategy.quota_level(), self.strategy.send_rate()));
        match decision {
            Decision::Retry => {
                let guard = ReleaseGuard::new(&mut operation.token, strategy);
                if let TokenState::Held(token) = &*guard.token {
                    let (quota, send_rate) = quota_and_rate();
                    let (delay, delay_source) = (token.delay(), token.delay_source());
                    let kind = EventKind::RetryScheduled { error_type, delay, delay_source, quota, send_rate };
                    tell(&self.event(beginning, token.retry_count(), kind));
                }
                guard.disarm();
            }
            // Without a guard: if the time limit cut an attempt, the operation still holds its token, and the attempt was
            // sent. An attempt that was not sent has been released already.
            Decision::Stop { attempts, reason: Some(reason) } => {
                let (quota, send_rate) = quota_and_rate();
                tell(&self.event(beginning, attempts, EventKind::Stopped { reason, error_type, quota, send_rate }));
            }
            Decision::Stop { reason: None, .. } => {}
        }
    }

    /// Handles an attempt that was cut or could not be made. Returns [`ControlFlow::Continue`] with the outcome of the
    /// attempt, or [`ControlFlow::Break`] with the outcome of the operation.
    #[cold]
    pub(crate) fn cut<R, L: LimitsOn<R>>(
        self,
        operation: &OperationOf<S, L, O>,
        cut: L::Cut,
        last: &mut L::Last,
    ) -> ControlFlow<R, R> {
        let flow = L::cut(cut, || L::take(last));
        if flow.is_break() {
            let (reason, error_type) = operation.end();
            operation.record.ended(operation.attempts(), Some(reason));
            // The strategy does not get the token of an attempt that was cut, so it learns nothing and refunds nothing.
            self.tell_stop(operation, operation.attempts(), reason, error_type);
        }
        flow
    }
}

impl<K: RetryToken, L: TimeLimits, N> Operation<K, L, N> {
    /// Returns the time limit of the attempt that begins now, if there is one.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.limits.next_cut().map(|(time, _)| time)
    }

    /// Returns the reason of an operation whose next attempt was cut or prevented, and the class of its last failure, if
    /// that is the reason.
    pub(crate) fn end(&self) -> (RetryError, Option<RetryErrorType>) {
        self.limits.end()
    }

    /// Returns whether the operation holds the token of its first attempt.
    #[inline]
    pub(crate) fn is_first(&self) -> bool {
        matches!(&self.token, TokenState::Held(token) if token.attempt() == 1)
    }

    /// Returns the number of attempts, including the current one.
    pub(crate) fn attempts(&self) -> u32 {
        self.token.attempts()
    }
}

impl<K, L: TimeLimits, N: Identified> Identified for Operation<K, L, N> {
    fn operation_id(&self) -> OperationId {
        self.observed.own.operation_id()
    }
}
