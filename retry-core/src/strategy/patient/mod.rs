//! The recommended strategy: a retry that the quota can't pay for waits for the service.

mod latency;
mod line;
mod outage;
mod peers;
mod settings;
mod token;

pub use token::PatientRetryToken;

use super::{
    Failure, ForeignToken, LazyWaker, Ready, RetryError, RetryStrategy, RetryToken, StandardRetryStrategy,
    StrategyName, forward_strategy,
};
use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::policy::{RetryErrorType, Success};
use crate::quota::{EvidenceQuota, QuotaMode, RetryQuota};
use crate::strategy::name::named;
use crate::support::Shared;
use crate::support::outage_events::{self, KeptName};
use crate::support::random::RandomNumbers;
use crate::support::sync::{AtomicU32, Mutex, Ordering, PoisonError};
use crate::time::Clock;
use line::{End, Line};
use settings::WaitSettings;
use std::task::Waker;
use std::time::Duration;
use token::{Nanos, Stage, Ticket};

/// The recommended strategy: retries hide random failures, stop before they keep an overloaded server down, and outlast an outage.
///
/// It retries as the [standard strategy](StandardRetryStrategy) does, in up to 10 attempts, with a quota that needs no number, an
/// [`EvidenceQuota`]. And a retry that the quota can't pay for does not end its operation: the operation **waits for the service**.
/// It keeps its place, in the order of arrival, and its retry is sent when there is evidence that the service answers again.
///
/// ```
/// use retry_core::PatientRetryStrategy;
///
/// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
/// ```
///
/// # What is sent
///
/// - Two fast successes send the operation that has waited longest. An answer is fast if it takes at most 15 % of the
///   `attempt_timeout`, or at most 1.5 times the least latency; before a timeout is known, at most twice the least latency.
/// - Where nothing else is sent, one operation at a time is sent as a probe: after 1, 2, 4, 8 and then every 16 seconds, or after 8 times
///   the usual time between two calls of the process, up to 30 seconds. It is once that time, up to 4 seconds, or 4 times after a timeout,
///   if the process makes one call after the other. A probe that fails goes to the end of the line. The last attempt of an operation is
///   never a probe. After a timeout in a process whose calls have not succeeded yet, the first one follows within 5 seconds, and later
///   ones after 15 to 30.
/// - Where all calls wait, as those of a batch do, each probe that succeeds sends the next one. After a timeout, it does so only if its
///   answer takes at most 1.5 times the least latency of earlier ones.
/// - Each attempt counts for `max_attempts`.
///
/// # How long
///
/// An operation without a time limit waits for up to 15 seconds in total
/// ([`max_wait_for_service`](PatientRetryStrategy::max_wait_for_service)), one with `max_time` or `deadline` until that time is over. Then it
/// ends with its last outcome and the reason [`NoRecovery`](RetryError::NoRecovery). An operation with
/// [`unlimited_attempts`](crate::Retry::unlimited_attempts) waits until the service answers. At most 10,000 operations wait
/// ([`max_waiting`](PatientRetryStrategy::max_waiting)).
///
/// After a short outage, other calls send those in line: two fast answers send one. With 1 to 100 calls per second, the last call of an
/// outage of 3 s has its answer within 4 s after its end, and of an outage of 10 s within about 10 s. A call without others beside it
/// waits for its next probe.
///
/// An operation keeps its last outcome while it waits. So a future is `Send` only if its outcome is.
///
/// # Other settings
///
/// Those of the standard strategy: set them there, and pass the strategy to [`over`](PatientRetryStrategy::over).
#[derive(Debug)]
pub struct PatientRetryStrategy<B = ExponentialBackoff, Q = EvidenceQuota> {
    standard: StandardRetryStrategy<B, Q>,
    settings: WaitSettings,
    /// For the times of probes.
    random: RandomNumbers,
    line: Shared<SharedLine>,
}

/// The line that threads share.
#[derive(Debug)]
struct SharedLine {
    /// The number of operations that wait, including those that are not in the line yet.
    waiting: AtomicU32,
    /// 0 if attempts are measured, because an operation waits or the strategy is new. It is a hint: an attempt that reads it late is
    /// not measured, and a waiting operation is then sent by the next success, or as a probe. So relaxed ordering suffices.
    is_settled: AtomicU32,
    /// No user code runs while it is locked, so it is never poisoned.
    line: Mutex<Line>,
}

impl SharedLine {
    const fn new() -> Self {
        Self { waiting: AtomicU32::new(0), is_settled: AtomicU32::new(0), line: Mutex::new(Line::new()) }
    }

    /// Changes the line, and then wakes the operations that are sent.
    fn change<R>(&self, change: impl FnOnce(&mut Line) -> (R, Vec<Waker>)) -> R {
        let (result, wakers) = {
            let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
            let changed = change(&mut line);
            self.is_settled.store((!line.is_watching()).into(), Ordering::Relaxed);
            changed
        };
        wakers.into_iter().for_each(Waker::wake);
        result
    }

    #[inline]
    fn is_watching(&self) -> bool {
        self.is_settled.load(Ordering::Relaxed) == 0
    }

    /// Returns whether fewer operations wait.
    fn has_room(&self, most: u32) -> bool {
        self.waiting.load(Ordering::Relaxed) < most
    }

    /// Counts an operation that waits, unless there are as many already.
    fn admit(&self, most: u32) -> bool {
        let one_more = |waiting: u32| (waiting < most).then(|| waiting + 1);
        self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_ok()
    }

    /// Stops counting an operation that waited.
    fn dismiss(&self) {
        let one_less = |waiting: u32| Some(waiting.saturating_sub(1));
        _ = self.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
    }
}

impl<B, Q> PatientRetryStrategy<B, Q> {
    #[inline]
    fn with_line<R>(&self, using: impl FnOnce(&SharedLine) -> R) -> R {
        self.line.with(SharedLine::new, using)
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> PatientRetryStrategy<B, Q> {
    /// Records a failure of an attempt that was sent, when it was sent, if that is known, and its time limit.
    #[cold]
    fn attempt_failed(&self, sent: Option<Nanos>, timed_out: bool, timeout: Option<Duration>, clock: &dyn Clock) {
        let took = sent.filter(|_| timed_out).map(|sent| sent.until(clock.now()));
        self.with_line(|line| {
            line.change(|line| ((), line.failed(timed_out, sent, timeout.or(took))));
        });
    }

    /// Records a failure that is not retried, and lets the operation wait with the token, if the quota refused the retry. Otherwise returns
    /// the reason.
    #[cold]
    fn refused(
        &self,
        token: &mut PatientRetryToken,
        failure: &Failure,
        reason: RetryError,
        clock: &dyn Clock,
    ) -> Result<(), RetryError> {
        if failure.was_sent() && failure.is_retryable() {
            self.attempt_failed(token.sent(), is_timeout(failure), failure.attempt_timeout(), clock);
        }
        if reason != RetryError::QuotaExhausted {
            return Err(reason);
        }
        if !self.may_wait(token, failure) {
            if self.settings.let_nobody_wait() {
                self.standard.note_refusal(failure);
            }
            return Err(reason);
        }
        let delay = self.standard.hinted_delay(failure);
        let next = token.standard.unpaid(delay);
        let most = StandardRetryStrategy::<B, Q>::in_effect(self.standard.settings().max_attempts);
        let may_probe = failure.allows_another(next.attempt(), most);
        let left = match failure.remaining() {
            None if failure.is_attempt_bound() => {
                Some(self.settings.max_wait.saturating_sub(token.waited()).saturating_add(delay))
            }
            remaining => remaining,
        };
        let now = clock.now();
        let until = left.map_or(Nanos::NEVER, |left| Nanos::of(now.saturating_add(left)));
        let is_hard = failure.remaining().is_some();
        // It is counted after the user's code, the backoff and the clock, which may panic.
        if !self.with_line(|line| line.admit(self.settings.max_waiting)) {
            return Err(reason);
        }
        *token = token.next(next, Stage::Refused { until, is_hard, may_probe });
        if self.with_line(|line| line.change(|line| (line.refused(now), Vec::new()))) {
            let admitted = Admitted { strategy: self, token };
            self.warn();
            std::mem::forget(admitted);
        }
        Ok(())
    }

    /// Warns that an outage begins.
    fn warn(&self) {
        let strategy = RetryStrategy::name(self);
        let kept = named(strategy.as_ref().map(StrategyName::as_str), |name| {
            outage_events::unavailable(name);
            name.and_then(KeptName::keep)
        });
        self.with_line(|line| line.change(|line| (line.name_outage(kept), Vec::new())));
    }

    /// Returns whether the operation has time to wait, and not too many others do.
    fn may_wait(&self, token: &PatientRetryToken, failure: &Failure) -> bool {
        let max_wait = self.settings.max_wait;
        let is_unlimited = failure.remaining().is_some() || !failure.is_attempt_bound();
        let has_time = is_unlimited || token.waited() < max_wait;
        has_time && !self.settings.let_nobody_wait() && self.with_line(|line| line.has_room(self.settings.max_waiting))
    }

    /// Lets an operation join the line when it asks first.
    #[cold]
    fn join(&self, token: &mut PatientRetryToken, end: End, may_probe: bool, clock: &dyn Clock) -> Ticket {
        let now = clock.now();
        let ticket = self.with_line(|line| line.change(|line| line.join(now, end, may_probe)));
        token.begin_wait(ticket, now);
        ticket
    }

    /// Answers an operation that waits.
    #[cold]
    fn ask(
        &self,
        token: &mut PatientRetryToken,
        ticket: Ticket,
        clock: &dyn Clock,
        waker: Option<&LazyWaker<'_>>,
    ) -> Ready {
        let now = clock.now();
        let (waker, cold_probe) = (waker.map(LazyWaker::waker), self.settings.cold_probe);
        let (ready, for_credit) = self.with_line(|line| {
            let (ready, for_credit, _former) = line.change(|state| {
                let answer = state.ask(ticket, now, waker, cold_probe, || self.random.part());
                ((answer.ready, answer.for_credit, answer.former), answer.wakers)
            });
            if !matches!(ready, Ready::After(_)) {
                line.dismiss();
            }
            (ready, for_credit)
        });
        match ready {
            Ready::After(_) | Ready::Queued { .. } => {}
            Ready::Now => token.end_wait(Stage::Sent { at: Nanos::of(now), for_credit }, now),
            Ready::Stop => token.end_wait(Stage::Unmeasured, now),
        }
        ready
    }

    /// Records that a first attempt is sent, and returns the stage of its token. With a reference to the token, the compiler would know
    /// nothing of the token of a first attempt.
    #[cold]
    fn first_sent(&self, clock: &dyn Clock) -> Stage {
        let now = clock.now();
        let over = self.with_line(|line| {
            let is_idle = line.has_room(1);
            line.change(|line| (line.first_sent(now, is_idle), Vec::new()))
        });
        if let Some(outage) = over {
            let strategy = outage.strategy.and_then(KeptName::take);
            outage_events::available(strategy.as_deref(), outage.lasted(), outage.waits, outage.in_vain);
        }
        Stage::Sent { at: Nanos::of(now), for_credit: false }
    }

    /// Records that a retry is sent for which the quota paid.
    #[cold]
    fn retry_sent(&self, token: &mut PatientRetryToken, clock: &dyn Clock) {
        let now = clock.now();
        token.stage = Stage::Sent { at: Nanos::of(now), for_credit: false };
        self.with_line(|line| line.change(|line| (line.retry_sent(now), Vec::new())));
    }

    /// Records a success whose duration is known.
    #[cold]
    fn measured(&self, sent: Nanos, clock: &dyn Clock) {
        let now = clock.now();
        self.with_line(|line| line.change(|line| ((), line.succeeded(sent.until(now), now))));
    }

    /// Records a success of an attempt that was measured, or sent while its operation waited.
    #[cold]
    fn record_other_success(&self, token: &PatientRetryToken, clock: &dyn Clock) -> Result<(), ForeignToken> {
        if !self.standard.issued(&token.standard) {
            return Err(ForeignToken);
        }
        self.leave(&token.stage);
        // The standard strategy does not read the success. Passing it would put it in memory on the path of other successes.
        self.standard.record_success(token.standard.copy(), &Success::default(), clock)?;
        if let Some(sent) = token.sent() {
            self.measured(sent, clock);
        }
        Ok(())
    }

    /// Gives up the place of an operation, if it waits.
    #[inline]
    fn leave(&self, stage: &Stage) {
        match *stage {
            Stage::Refused { .. } => self.give_up_place(None),
            Stage::Waiting { ticket, .. } => self.give_up_place(Some(ticket)),
            Stage::Unmeasured | Stage::Watched | Stage::Sent { .. } => {}
        }
    }

    /// Gives up the place of an operation whose attempt was not sent, or the credit for which it was to be sent.
    #[inline]
    fn leave_unsent(&self, stage: &Stage) {
        match *stage {
            Stage::Sent { for_credit: true, .. } => self.give_back_credit(),
            _ => self.leave(stage),
        }
    }

    #[cold]
    fn give_back_credit(&self) {
        self.with_line(|line| line.change(|line| (line.give_back(), Vec::new())));
    }

    /// Gives up the place of an operation that waits. It has a ticket if it has come to the line.
    #[cold]
    fn give_up_place(&self, ticket: Option<Ticket>) {
        self.with_line(|line| {
            line.dismiss();
            match ticket {
                None => line.change(|line| (line.wait_ended(None, true), Vec::new())),
                Some(ticket) => drop(line.change(|line| line.leave(ticket))),
            }
        });
    }
}

#[inline]
fn is_timeout(failure: &Failure) -> bool {
    failure.error_type() == Some(RetryErrorType::Timeout)
}

/// Gives up the place of an operation if the subscriber that is warned panics.
struct Admitted<'a, B: BackoffStrategy, Q: RetryQuota> {
    strategy: &'a PatientRetryStrategy<B, Q>,
    token: &'a PatientRetryToken,
}

impl<B: BackoffStrategy, Q: RetryQuota> Drop for Admitted<'_, B, Q> {
    fn drop(&mut self) {
        self.strategy.leave(&self.token.stage);
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for PatientRetryStrategy<B, Q> {
    type Token = PatientRetryToken;

    forward_strategy! {
        self => self.standard;
        except acquire_initial_token, refresh_retry_token, record_success, record_progress, weigh, used, ready, acquire_hedge,
        release, refused_delay, starts_empty, empty_token, quota_mode, waiting_operations
    }

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<PatientRetryToken, RetryError> {
        let mut token = self.empty_token(clock)?;
        if self.with_line(SharedLine::is_watching) {
            token.stage = self.first_sent(clock);
        }
        Ok(token)
    }

    #[inline]
    fn starts_empty(&self) -> bool {
        !self.with_line(SharedLine::is_watching)
    }

    #[inline]
    fn empty_token(&self, clock: &dyn Clock) -> Result<PatientRetryToken, RetryError> {
        self.standard.empty_token(clock).map(PatientRetryToken::first)
    }

    #[inline]
    fn is_permitted(&self, token: &PatientRetryToken) -> bool {
        matches!(token.stage, Stage::Unmeasured)
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn refresh_retry_token(
        &self,
        token: PatientRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<PatientRetryToken, RetryError> {
        self.refresh_or_return(token, failure, clock).or_else(|(reason, token)| match token {
            Some(token) => self.wait_instead(token, failure, reason, clock),
            None => Err(reason),
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn refresh_or_return(
        &self,
        token: PatientRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<PatientRetryToken, (RetryError, Option<PatientRetryToken>)> {
        if !self.standard.issued(&token.standard) {
            return Err((RetryError::ForeignToken, None));
        }
        // If it waits, it was sent without permission, by a call that blocks while its clock stands still.
        if failure.was_sent() {
            self.leave(&token.stage);
        } else {
            self.leave_unsent(&token.stage);
        }
        // The line warns instead of the quota.
        match self.standard.refresh::<false>(token.standard.copy(), failure, clock) {
            Ok(standard) => {
                if !self.with_line(SharedLine::is_watching) {
                    return Ok(token.next(standard, Stage::Unmeasured));
                }
                if failure.was_sent() {
                    self.attempt_failed(token.sent(), is_timeout(failure), failure.attempt_timeout(), clock);
                }
                Ok(token.next(standard, Stage::Watched))
            }
            Err(reason) => Err((reason, Some(token))),
        }
    }

    #[cold]
    fn wait_instead(
        &self,
        mut token: PatientRetryToken,
        failure: &Failure,
        reason: RetryError,
        clock: &dyn Clock,
    ) -> Result<PatientRetryToken, RetryError> {
        self.refused(&mut token, failure, reason, clock)?;
        Ok(token)
    }

    #[inline]
    fn record_success(
        &self,
        token: PatientRetryToken,
        success: &Success,
        clock: &dyn Clock,
    ) -> Result<(), ForeignToken> {
        if matches!(token.stage, Stage::Unmeasured) {
            return self.standard.record_success(token.standard, success, clock);
        }
        // A copy, so that the token of other successes needs no memory.
        self.record_other_success(&token.copy(), clock)
    }

    fn record_progress(&self, token: PatientRetryToken, clock: &dyn Clock) -> Result<PatientRetryToken, RetryError> {
        if !self.standard.issued(&token.standard) {
            return Err(RetryError::ForeignToken);
        }
        let sent = token.sent();
        self.leave(&token.stage);
        let standard = self.standard.record_progress(token.standard, clock)?;
        if let Some(sent) = sent {
            self.measured(sent, clock);
        }
        Ok(PatientRetryToken::first(standard))
    }

    #[inline]
    fn ready(&self, token: &mut PatientRetryToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        match token.stage {
            Stage::Unmeasured | Stage::Watched if self.with_line(SharedLine::is_watching) => {
                if self.standard.issued(&token.standard) {
                    self.retry_sent(token, clock);
                }
                Ready::Now
            }
            Stage::Unmeasured | Stage::Watched | Stage::Sent { .. } => Ready::Now,
            _ if !self.standard.issued(&token.standard) => Ready::Now,
            Stage::Refused { until, is_hard, may_probe } => {
                let ticket = self.join(token, End { until, is_hard }, may_probe, clock);
                self.ask(token, ticket, clock, waker)
            }
            Stage::Waiting { ticket, .. } => self.ask(token, ticket, clock, waker),
        }
    }

    fn acquire_hedge(&self, token: &PatientRetryToken, clock: &dyn Clock) -> Result<PatientRetryToken, RetryError> {
        let standard = self.standard.acquire_hedge(&token.standard, clock)?;
        Ok(token.next(standard, Stage::Unmeasured))
    }

    #[cold]
    fn release(&self, token: PatientRetryToken) {
        if self.standard.issued(&token.standard) {
            self.leave_unsent(&token.stage);
            self.standard.release(token.standard);
        }
    }

    fn refused_delay(&self, token: &PatientRetryToken, failure: &Failure) -> Duration {
        self.standard.refused_delay(&token.standard, failure)
    }

    fn quota_mode(&self) -> Option<QuotaMode> {
        if self.waiting_operations() > Some(0) { Some(QuotaMode::Waiting) } else { self.standard.quota_mode() }
    }

    fn waiting_operations(&self) -> Option<u32> {
        Some(self.with_line(|line| line.waiting.load(Ordering::Relaxed)))
    }
}
