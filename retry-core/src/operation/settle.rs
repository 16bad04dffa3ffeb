//! Settles the outcome of an attempt: another attempt follows, or the operation ends.

use super::call::Named;
use super::driver::{Driver, Plain};
use super::release::{ReleaseGuard, Tally, TokenState};
use super::{Call, Needs, OptionalObserver, Outcome, RunningLimits, State, explored, with_text};
use crate::policy::{RetryDirective, RetryErrorType, Success};
use crate::strategy::{self, Failure, RetryError, RetryStrategy, RetryToken};
use crate::support::KeptOutcome;
use crate::time::Clock;
use std::ops::ControlFlow;
use std::time::Duration;

/// The next step after an outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Decision {
    /// Another attempt follows.
    Retry,
    /// The outcome is final.
    Stop {
        tally: Tally,
        /// The reason why there is no further attempt; `None` after a success.
        reason: Option<RetryError>,
    },
}

/// What is known about a failure besides the directive of the policy, and is not in the state of the operation.
#[derive(Clone, Copy, Debug)]
struct Facts {
    refusal: Option<RetryError>,
    remaining: Option<Duration>,
    was_sent: bool,
}

impl Facts {
    /// Refuses a retry, because the operation has made as many attempts as it may, unless there is another reason.
    #[cold]
    fn use_up_attempts(&mut self) {
        self.refusal = self.refusal.or(Some(RetryError::MaxAttempts));
    }
}

/// The end of an operation.
#[derive(Debug)]
pub struct End<R> {
    pub(crate) outcome: R,
    pub(crate) attempts: u32,
    pub(crate) waited: Duration,
    pub(crate) reason: Option<RetryError>,
}

impl<R> End<R> {
    #[inline]
    pub(crate) fn new(outcome: Outcome<R>, tally: Tally, reason: Option<RetryError>) -> Self {
        Self { outcome: explored::last(outcome), attempts: tally.attempts, waited: tally.waited(), reason }
    }
}

impl<K: RetryToken, L: RunningLimits, N> State<K, L, N> {
    /// Returns the outcome of an attempt, and whether the time is over: then it is the outcome of the operation.
    #[inline]
    pub(crate) fn attempted<R>(
        &mut self,
        attempted: Result<Outcome<R>, L::Cut>,
        last: &mut impl KeptOutcome<R>,
        out_of_time: impl FnOnce(L::Cut) -> R,
    ) -> (Outcome<R>, bool) {
        match attempted {
            Ok(outcome) => (outcome, false),
            Err(cut) => match self.cut(cut, last, out_of_time) {
                ControlFlow::Continue(outcome) => (explored::ran(outcome), false),
                ControlFlow::Break(outcome) => (explored::ran(outcome), true),
            },
        }
    }

    /// Returns the outcome of an attempt that was cut or could not be made: [`ControlFlow::Continue`] with the outcome of
    /// the attempt, or [`ControlFlow::Break`] with the outcome of the operation, whose time is over. If there is no last outcome, or an
    /// attempt was cut that must not be carried out twice, `out_of_time` makes one.
    #[cold]
    pub(crate) fn cut<R>(
        &mut self,
        cut: L::Cut,
        last: &mut impl KeptOutcome<R>,
        out_of_time: impl FnOnce(L::Cut) -> R,
    ) -> ControlFlow<R, R> {
        if L::is_of_attempt(cut) {
            self.limits.note_cut(true);
            return ControlFlow::Continue(out_of_time(cut));
        }
        let last = last.take().filter(|_| !self.limits.supersedes_last(cut));
        ControlFlow::Break(last.unwrap_or_else(|| out_of_time(cut)))
    }

    /// Passes the policy's directive for an outcome to the strategy and the observers, and returns the next step.
    ///
    /// The driver is made here, and the directive passed by reference, so that a success writes neither to memory.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn settle<
        S: RetryStrategy<Token = K>,
        T: Clock + Copy,
        O: OptionalObserver<State = N> + Copy,
        D: Driver,
    >(
        &mut self,
        call: Call<'_, S, T, O>,
        directive: RetryDirective,
        driver: impl FnOnce() -> D,
    ) -> Decision {
        match directive {
            RetryDirective::Succeed { success } => {
                if driver().was_sent() {
                    self.succeed(call, success)
                } else {
                    self.succeed_unsent(call)
                }
            }
            directive @ (RetryDirective::Retry { .. } | RetryDirective::Fail { .. }) => {
                let tally = self.token.tally();
                let (named, around) = call.parts();
                match self.fail(named, around, &directive, driver()) {
                    Ok(()) => Decision::Retry,
                    Err(reason) => Decision::Stop { tally, reason: Some(reason) },
                }
            }
        }
    }

    /// Settles an outcome, as [`settle`](State::settle) does. There is no directive if the time is over.
    #[inline]
    pub(crate) fn settle_or_end<
        S: RetryStrategy<Token = K>,
        T: Clock + Copy,
        O: OptionalObserver<State = N> + Copy,
        D: Driver,
    >(
        &mut self,
        call: Call<'_, S, T, O>,
        directive: Option<RetryDirective>,
        driver: impl FnOnce() -> D,
    ) -> Decision {
        match directive {
            Some(directive) => self.settle(call, directive, driver),
            None => self.time_is_over(call, driver()),
        }
    }

    #[inline]
    fn succeed<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        success: Success,
    ) -> Decision {
        if self.is_unmade() {
            // The first attempt, whose token was not made. Settled alone, because what follows would read the token.
            call.strategy.record_first_success(&success, &call.clock());
            self.tell_success(call, 1, true);
            return Decision::Stop { tally: Tally::without_waiting(1), reason: None };
        }
        let (tally, recorded) = if let TokenState::Held(token) = self.token.take() {
            (Tally::of(&token), call.strategy.record_success(token, &success, &call.clock()).is_ok())
        } else {
            (Tally::without_waiting(1), false)
        };
        self.tell_success(call, tally.attempts, recorded);
        Decision::Stop { tally, reason: None }
    }

    /// Settles a success of an attempt that was not sent. The service was not called, so there is nothing to record.
    #[cold]
    fn succeed_unsent<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
    ) -> Decision {
        let tally = self.token.tally();
        self.release(call);
        self.tell_success(call, tally.attempts, false);
        Decision::Stop { tally, reason: None }
    }

    /// Lets the strategy decide on a failure. Returns the reason if no attempt follows.
    // Out of line, but not `#[cold]`, because the functions that it calls should still be inlined into it.
    #[inline(never)]
    fn fail<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &mut self,
        named: Named<'_, S>,
        around: (T, O),
        directive: &RetryDirective,
        driver: impl Driver,
    ) -> Result<(), RetryError> {
        let call = Call::of(named, around);
        if directive.is_unknown() {
            // If the policy was asked through `Call::evaluate`, there was a warning with the text of the error.
            call.warn(&self.observed, self.attempts(), &|| None, None);
        }
        let refusal = if !driver.is_repeatable() {
            Some(RetryError::NotRepeatable)
        } else if self.is_stopped() {
            Some(RetryError::Stopped)
        } else {
            (!strategy::retries_enabled()).then_some(RetryError::Disabled)
        };
        let remaining = self.limits.remaining(&call.timer());
        let mut facts = Facts { refusal, remaining, was_sent: driver.was_sent() };
        self.limits.note_cut(false);
        let attempts = self.tell_attempt_failed(call, self.failure(directive, facts));
        if self.limits.allows_no_more_than(attempts) {
            facts.use_up_attempts();
        }
        let failure = self.failure(directive, facts);
        // The token leaves the state only here, so that a panic of an observer loses none. The compiler knows all of a token that was not
        // made yet, so the first failure is decided in code of its own, which is shorter.
        let bought = if self.take_unmade() {
            let unmade = call.strategy.empty_token(&call.clock());
            unmade.map_err(|_| RetryError::Refused).and_then(|token| self.buy(call, token, directive, facts))
        } else {
            let held = self.token.take().held();
            held.ok_or(RetryError::Refused).and_then(|token| self.buy(call, token, directive, facts))
        };
        match bought {
            Ok(()) if is_last_under_guard(attempts) => {
                self.release(call);
                Err(self.stop(call, failure.error_type(), attempts, RetryError::MaxAttempts, driver))
            }
            Ok(()) => {
                if attempts == 1 {
                    let guard = ReleaseGuard::new(&mut self.token, call.strategy);
                    call.tell_nesting(&self.observed, self.record.mark());
                    guard.disarm();
                }
                match self.schedule(call, &failure, attempts, driver) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(()) => {
                        self.release(call);
                        Err(self.give_up(call, failure.error_type(), attempts))
                    }
                }
            }
            Err(reason) => Err(self.stop(call, failure.error_type(), attempts, reason, driver)),
        }
    }

    /// Returns the description of a failure for the strategy.
    #[inline]
    fn failure(&self, directive: &RetryDirective, facts: Facts) -> Failure {
        Failure::from_directive(*directive)
            .with_remaining(facts.remaining)
            .with_refusal(facts.refusal)
            .with_sent(facts.was_sent)
            .with_attempt_bound(!self.is_unlimited)
            .with_max_attempts(self.limits.max_attempts())
            .with_attempt_timeout(self.limits.attempt_timeout())
    }

    /// Asks the strategy for the token of a retry, and holds it.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn buy<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        token: K,
        directive: &RetryDirective,
        facts: Facts,
    ) -> Result<(), RetryError> {
        match call.strategy.refresh_or_return(token, &self.failure(directive, facts), &call.clock()) {
            Ok(token) => self.hold(call, token, facts.refusal),
            Err((reason, None)) => Err(reason),
            Err((reason, Some(token))) => {
                // One by one, so that the facts of a granted retry need no memory.
                let Facts { refusal, remaining, was_sent } = facts;
                self.wait_instead(call.parts(), (token, reason), directive, refusal, remaining, was_sent)
            }
        }
    }

    /// Holds the token of a retry, unless there is none, whatever the strategy decided.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn hold<S: RetryStrategy<Token = K>, T: Copy, O: Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        token: K,
        refusal: Option<RetryError>,
    ) -> Result<(), RetryError> {
        if let Some(refusal) = refusal {
            call.strategy.release(token);
            return Err(refusal);
        }
        self.token = TokenState::Held(token);
        let guard = ReleaseGuard::new(&mut self.token, call.strategy);
        let (has_delay, is_permitted) = match &*guard.token {
            TokenState::Held(token) => (token.has_delay(), call.strategy.is_permitted(token)),
            _ => (false, false),
        };
        guard.disarm();
        self.needs = if is_permitted && !has_delay { Needs::Nothing } else { Needs::of_token(has_delay) };
        Ok(())
    }

    /// Asks the strategy whether the operation may wait for a retry that was not granted. It describes the failure again: to pass the
    /// description on would make a granted retry slower.
    #[cold]
    #[inline(never)]
    fn wait_instead<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver + Copy>(
        &mut self,
        (named, around): (Named<'_, S>, (T, O)),
        (token, reason): (K, RetryError),
        directive: &RetryDirective,
        refusal: Option<RetryError>,
        remaining: Option<Duration>,
        was_sent: bool,
    ) -> Result<(), RetryError> {
        let call = Call::of(named, around);
        let facts = Facts { refusal, remaining, was_sent };
        let failure = self.failure(directive, facts);
        let token = call.strategy.wait_instead(token, &failure, reason, &call.clock())?;
        self.hold(call, token, facts.refusal)
    }

    /// Reports the end of an operation whose driver does not want the retry, and returns its reason. The driver itself is not told.
    #[cold]
    pub(super) fn give_up<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &self,
        call: Call<'_, S, T, O>,
        error_type: Option<RetryErrorType>,
        attempts: u32,
    ) -> RetryError {
        self.stop(call, error_type, attempts, RetryError::GivenUp, Plain)
    }

    /// Ends an operation whose time is over, or that waited for the service without success. The policy does not
    /// evaluate its outcome again, and the strategy does not get the token of an attempt that was cut, so it learns
    /// nothing and refunds nothing.
    #[cold]
    pub(crate) fn time_is_over<S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        driver: impl Driver,
    ) -> Decision {
        let (tally, was_sent) = (self.token.tally(), driver.was_sent());
        let reason = match self.token {
            TokenState::NoRecovery(tally) if tally.is_long_poll() => RetryError::QuotaExhausted,
            TokenState::NoRecovery(_) => RetryError::NoRecovery,
            _ => self.limits.reason(),
        };
        // No guard is needed: if the operation still holds a token, its attempt was sent, or the driver releases it.
        let reason = self.stop(call, None, tally.attempts, reason, driver);
        if !was_sent {
            self.release(call);
        }
        Decision::Stop { tally, reason: Some(reason) }
    }

    /// Ends an operation whose attempt was cut, and returns its outcome; otherwise returns the outcome of the attempt.
    #[cold]
    pub(crate) fn cut_or_end<R, S: RetryStrategy<Token = K>, T: Clock + Copy, O: OptionalObserver<State = N> + Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        cut: L::Cut,
        last: &mut impl KeptOutcome<R>,
        out_of_time: impl FnOnce(L::Cut) -> R,
    ) -> ControlFlow<R, R> {
        let flow = self.cut(cut, last, out_of_time);
        if let ControlFlow::Break(outcome) = &flow {
            self.time_is_over(call, with_text(Plain, || last.error_text(outcome)));
        }
        flow
    }

    /// Returns the last outcome of an operation that waited for the service without success, so that no attempt follows. The driver settles it
    /// without a directive. Otherwise, an outcome that was kept for the wait is dropped.
    #[inline]
    pub(crate) fn unrecovered<R, S: RetryStrategy<Token = K>, T: Copy, O: Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        last: &mut impl KeptOutcome<R>,
    ) -> Option<Outcome<R>> {
        if self.has_no_recovery(call, last) { last.take().map(explored::ran) } else { None }
    }

    /// Returns whether the operation waited for the service without success, and its last outcome was kept. Otherwise, an outcome that was
    /// kept for the wait is dropped.
    ///
    /// If its `Drop` panics, the token of the attempt is released, which was not sent.
    #[inline]
    pub(crate) fn has_no_recovery<R, S: RetryStrategy<Token = K>, T: Copy, O: Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        last: &mut impl KeptOutcome<R>,
    ) -> bool {
        if self.is_unrecovered() {
            return last.is_kept();
        }
        if K::may_wait() && self.needs == Needs::Look {
            let guard = ReleaseGuard::new(&mut self.token, call.strategy);
            last.end_wait();
            guard.disarm();
        }
        false
    }

    /// Returns whether the operation waited for the service without success.
    #[inline]
    pub(crate) fn is_unrecovered(&self) -> bool {
        K::may_wait() && self.needs == Needs::Look && matches!(self.token, TokenState::NoRecovery(_))
    }

    /// Returns the end of the operation if the outcome is final. Otherwise the outcome is [kept](State::keep) or dropped.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn finish<R, S: RetryStrategy<Token = K>, T: Copy, O: Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        decision: Decision,
        last: &mut impl KeptOutcome<R>,
        outcome: Outcome<R>,
    ) -> ControlFlow<End<R>> {
        match decision {
            Decision::Stop { tally, reason } => ControlFlow::Break(End::new(outcome, tally, reason)),
            Decision::Retry => {
                self.keep(call, last, outcome);
                ControlFlow::Continue(())
            }
        }
    }

    /// Drops the outcome of an attempt that another one follows, or keeps it if the operation may need it later.
    ///
    /// If its `Drop` panics, the token of the paid retry is released.
    #[inline]
    pub(crate) fn keep<R, S: RetryStrategy<Token = K>, T: Copy, O: Copy>(
        &mut self,
        call: Call<'_, S, T, O>,
        last: &mut impl KeptOutcome<R>,
        outcome: Outcome<R>,
    ) {
        let waits = !self.needs_nothing() && self.token.waits_for_service();
        let guard = ReleaseGuard::new(&mut self.token, call.strategy);
        if let Some(outcome) = explored::kept(outcome) {
            last.keep(outcome, waits);
        }
        guard.disarm();
    }

    /// Releases the token of an attempt that will not be made, or was not sent.
    #[cold]
    pub(crate) fn release<S: RetryStrategy<Token = K>, T: Copy, O: Copy>(&mut self, call: Call<'_, S, T, O>) {
        drop(ReleaseGuard::new(&mut self.token, call.strategy));
    }
}

/// Returns whether a test guard allows no further attempt. The strategies of the library know it; yours need not.
#[cfg(feature = "test")]
fn is_last_under_guard(attempts: u32) -> bool {
    crate::support::session::max_attempts().is_some_and(|max| attempts >= max)
}

/// Returns whether a test guard allows no further attempt: there is no guard.
#[cfg(not(feature = "test"))]
#[inline]
const fn is_last_under_guard(_: u32) -> bool {
    false
}
