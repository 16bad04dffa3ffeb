//! The tokens of the standard strategy, and the rules by which it issues and refuses them.

use super::hint_delay::{delay_with_hint, hinted_wait, with_jitter};
use super::{Refund, StandardRetrySettings, StandardRetryStrategy};
use crate::backoff::{BackoffContext, BackoffStrategy};
use crate::policy::{RetryDirective, RetryErrorType, Success};
use crate::quota::{QuotaMode, RetryQuota};
use crate::strategy::name::named;
use crate::strategy::{DelaySource, Failure, ForeignToken, RetryError, RetryStrategy, RetryToken, StrategyName};
use crate::time::Clock;
use std::num::NonZeroU32;
use std::time::Duration;

/// The token of a [`StandardRetryStrategy`]. It is a small plain value.
#[derive(Debug)]
pub struct StandardRetryToken {
    /// The identity of the strategy that issued the token.
    issuer: Packed,
    /// The delay, in nanoseconds or in seconds.
    delay: Packed,
    /// The nanoseconds beside the seconds of the delay, or [`IN_NANOS`].
    delay_nanos: u32,
    attempt: NonZeroU32,
    /// The amount that was taken from the quota for this attempt.
    paid: u32,
    /// The number of retries after a conflict. It saturates, because a larger type would make the token larger.
    conflicts: u16,
    delay_source: DelaySource,
}

/// A number that is aligned like its half, because the padding between larger fields would make futures larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(Rust, packed(4))]
struct Packed(u64);

/// Says that a delay is in nanoseconds. Backoffs compute in them, and to convert each delay would take a division.
const IN_NANOS: u32 = u32::MAX;

/// A delay as in a token: a number, and the nanoseconds beside its seconds, or [`IN_NANOS`].
type Delay = (u64, u32);

#[inline]
const fn packed(delay: Duration) -> Delay {
    (delay.as_secs(), delay.subsec_nanos())
}

#[inline]
const fn unpacked((number, nanos): Delay) -> Duration {
    if nanos == IN_NANOS { Duration::from_nanos(number) } else { Duration::new(number, nanos) }
}

impl RetryToken for StandardRetryToken {
    #[inline]
    fn attempt(&self) -> u32 {
        self.attempt.get()
    }

    #[inline]
    fn delay(&self) -> Duration {
        unpacked((self.delay.0, self.delay_nanos))
    }

    #[inline]
    fn has_delay(&self) -> bool {
        self.delay.0 != 0 || !matches!(self.delay_nanos, 0 | IN_NANOS)
    }

    #[inline]
    fn delay_source(&self) -> DelaySource {
        self.delay_source
    }
}

impl StandardRetryToken {
    /// Returns the same token again, for a strategy that continues with it if this one refuses it.
    #[inline]
    pub(crate) const fn copy(&self) -> Self {
        Self { ..*self }
    }

    /// Returns the token of the next attempt, which is not paid for.
    pub(crate) const fn unpaid(&self, delay: Duration) -> Self {
        self.copy().next(packed(delay), DelaySource::RetryAfter, 0)
    }

    /// Returns the token of the next attempt.
    #[inline]
    const fn next(self, (delay, delay_nanos): Delay, delay_source: DelaySource, paid: u32) -> Self {
        Self {
            issuer: self.issuer,
            delay: Packed(delay),
            delay_nanos,
            attempt: self.attempt.saturating_add(1),
            paid,
            conflicts: self.conflicts,
            delay_source,
        }
    }

    /// Returns the number of earlier retries of the next one's kind, and the number of retries after a conflict with the next
    /// one. There are two kinds: retries after a conflict, and all others. The `uncounted` ones belong to neither.
    #[inline]
    fn retries_of_kind(&self, error_type: RetryErrorType, uncounted: u32) -> (u32, u16) {
        let conflicts = u32::from(self.conflicts);
        match error_type {
            RetryErrorType::Conflict => (conflicts, self.conflicts.saturating_add(1)),
            _ => (self.retry_count().wrapping_sub(conflicts).saturating_sub(uncounted), self.conflicts),
        }
    }
}

impl<B, Q> StandardRetryStrategy<B, Q> {
    /// Returns the identity of this strategy: its address, or under a test guard the number of the guard's copy.
    #[inline]
    fn identity(&self) -> Packed {
        Packed(self.switch.number_of_copy().unwrap_or_else(|| std::ptr::from_ref(self).addr()) as u64)
    }

    /// Returns the maximum number of attempts in effect: the one that a test guard sets, or otherwise this one.
    #[inline]
    pub(crate) fn in_effect(max_attempts: u32) -> u32 {
        #[cfg(feature = "test")]
        if let Some(max_attempts) = crate::support::session::max_attempts() {
            return max_attempts;
        }
        max_attempts
    }

    /// Returns whether this strategy issued the token.
    #[inline]
    pub(crate) fn issued(&self, token: &StandardRetryToken) -> bool {
        token.issuer == self.identity()
    }
}

impl<B, Q: RetryQuota> StandardRetryStrategy<B, Q> {
    /// Makes the checks that come before the number of attempts. Returns the class of the failure.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn checked(&self, token: &StandardRetryToken, failure: &Failure) -> Result<RetryErrorType, RetryError> {
        if !self.issued(token) {
            return Err(RetryError::ForeignToken);
        }
        let RetryDirective::Retry { error_type, .. } = failure.directive() else {
            return Err(RetryError::NotRetryable);
        };
        if failure.refusal().is_some() || !self.switch.is_on() {
            return Err(failure.refusal().unwrap_or(RetryError::Disabled));
        }
        Ok(error_type)
    }

    /// Decides on the retry of a failure by these settings and this backoff, which are not the strategy's own if they
    /// were changed while it runs. The `uncounted` earlier retries neither use up attempts nor lengthen the backoff. With `WARNS`, the
    /// quota hears of its refusal, and can warn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn decide<const WARNS: bool>(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        token: StandardRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
        uncounted: u32,
    ) -> Result<StandardRetryToken, RetryError> {
        let error_type = self.checked(&token, failure)?;
        if token.attempt().saturating_sub(uncounted) >= Self::in_effect(settings.max_attempts)
            && failure.is_attempt_bound()
        {
            return Err(RetryError::MaxAttempts);
        }
        let (retry, conflicts) = token.retries_of_kind(error_type, uncounted);
        let (delay, delay_source) = delay(settings, backoff, &token, retry, error_type, failure.retry_after())?;
        if failure.remaining().is_some_and(|remaining| unpacked(delay) > remaining) {
            return Err(RetryError::MaxTime);
        }
        let cost = settings.costs.of(error_type);
        let Some(paid) = self.quota.pay(cost, error_type, clock) else {
            if WARNS {
                self.warn(cost);
            }
            return Err(RetryError::QuotaExhausted);
        };
        Ok(StandardRetryToken { conflicts, ..token.next(delay, delay_source, paid) })
    }

    #[cold]
    fn warn(&self, cost: u32) {
        named(self.name, |name| self.quota.note_refusal(cost, name));
    }

    /// Tells the quota that it could not pay for the retry of a failure.
    pub(crate) fn note_refusal(&self, failure: &Failure) {
        if let Some(error_type) = failure.error_type() {
            self.warn(self.settings.costs.of(error_type));
        }
    }

    /// Returns the delay of the retry after a failure, as [`decide`](Self::decide) would grant it. It is zero if there would
    /// be no retry.
    pub(crate) fn delay_of(
        &self,
        settings: &StandardRetrySettings,
        backoff: &impl BackoffStrategy,
        token: &StandardRetryToken,
        failure: &Failure,
        uncounted: u32,
    ) -> Duration {
        let delay = self.checked(token, failure).and_then(|error_type| {
            let (retry, _) = token.retries_of_kind(error_type, uncounted);
            delay(settings, backoff, token, retry, error_type, failure.retry_after())
        });
        delay.map_or(Duration::ZERO, |(delay, _)| unpacked(delay))
    }

    /// Gives back what was paid for an attempt that was not sent.
    #[cold]
    pub(crate) fn give_back(&self, token: &StandardRetryToken) {
        if token.paid > 0 && self.issued(token) {
            self.quota.give_back(token.paid);
        }
    }

    /// Sells a hedge at the price of these settings for an ordinary retry; see [`RetryStrategy::acquire_hedge`].
    #[cold]
    pub(crate) fn sell_hedge(
        &self,
        settings: &StandardRetrySettings,
        token: &StandardRetryToken,
        clock: &dyn Clock,
    ) -> Result<StandardRetryToken, RetryError> {
        if !self.issued(token) {
            return Err(RetryError::ForeignToken);
        }
        if !self.switch.is_on() {
            return Err(RetryError::Disabled);
        }
        if token.attempt() >= Self::in_effect(settings.max_attempts) {
            return Err(RetryError::MaxAttempts);
        }
        let cost = settings.costs.of(RetryErrorType::Other);
        let paid = self.quota.pay_hedge(cost, clock).ok_or(RetryError::QuotaExhausted)?;
        let first = StandardRetryToken { ..*token };
        Ok(first.next((0, IN_NANOS), DelaySource::Backoff, paid))
    }

    /// Records a success, with the refunds of these settings.
    #[inline]
    pub(crate) fn succeed(
        &self,
        settings: &StandardRetrySettings,
        token: &StandardRetryToken,
    ) -> Result<(), ForeignToken> {
        if !self.issued(token) {
            return Err(ForeignToken);
        }
        if token.retry_count() == 0 {
            self.quota.first_succeeded(settings.first_refund);
        } else {
            self.retry_succeeded(settings, token);
        }
        Ok(())
    }

    /// Reports the success of a retry to the quota, with the refund of these settings.
    #[cold]
    fn retry_succeeded(&self, settings: &StandardRetrySettings, token: &StandardRetryToken) {
        let refund = match settings.retry_refund {
            Refund::Amount(amount) => amount,
            Refund::LastCost => token.paid,
        };
        self.quota.retry_succeeded(token.paid, refund);
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> StandardRetryStrategy<B, Q> {
    /// Decides on the retry of a failure as [`refresh_retry_token`](RetryStrategy::refresh_retry_token) does. With `WARNS`, the quota
    /// hears of its refusal, and can warn.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn refresh<const WARNS: bool>(
        &self,
        token: StandardRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<StandardRetryToken, RetryError> {
        if !failure.was_sent() {
            self.give_back(&token);
        }
        self.decide::<WARNS>(&self.settings, &self.backoff, token, failure, clock, 0)
    }

    /// Returns the wait that the server asked for, with its jitter and without a backoff; zero if it asked for none.
    pub(crate) fn hinted_delay(&self, failure: &Failure) -> Duration {
        let hint = failure.retry_after().unwrap_or_default();
        let wait = hinted_wait(&self.settings, &self.backoff, hint).unwrap_or_default();
        with_jitter(&self.settings, &self.backoff, wait)
    }

    /// Grants a retry without backoff and cost, unless its time `is_over`. `delay` is the delay after the wait that the server
    /// asked for, or `None` if that wait is longer than allowed.
    pub(crate) fn grant_unpaid(
        &self,
        token: StandardRetryToken,
        failure: &Failure,
        is_over: bool,
        delay: Option<Duration>,
    ) -> Result<StandardRetryToken, RetryError> {
        self.checked(&token, failure)?;
        #[cfg(feature = "test")]
        if crate::support::session::max_attempts().is_some_and(|max| token.attempt() >= max) {
            return Err(RetryError::MaxAttempts);
        }
        if is_over {
            return Err(RetryError::MaxTime);
        }
        let delay = delay.ok_or(RetryError::RetryAfterTooLong)?;
        if failure.remaining().is_some_and(|remaining| delay > remaining) {
            return Err(RetryError::MaxTime);
        }
        let source = if delay.is_zero() { DelaySource::Backoff } else { DelaySource::RetryAfter };
        Ok(token.next(packed(delay), source, 0))
    }
}

/// Returns the delay before this retry, and its source.
#[cfg_attr(not(debug_assertions), inline(always))]
fn delay(
    settings: &StandardRetrySettings,
    backoff: &impl BackoffStrategy,
    token: &StandardRetryToken,
    retry: u32,
    error_type: RetryErrorType,
    hint: Option<Duration>,
) -> Result<(Delay, DelaySource), RetryError> {
    // It is computed here, where a backoff that ignores its context is inlined without it.
    let context =
        BackoffContext { retry_after: hint, previous_delay: token.delay(), ..BackoffContext::new(retry, error_type) };
    let computed = match backoff.nanos_in_context(&context) {
        Some(nanos) => (nanos, IN_NANOS),
        None => packed(backoff.delay_in_context(&context)),
    };
    match hint {
        None => Ok((computed, DelaySource::Backoff)),
        Some(hint) => {
            let (delay, source) = delay_with_hint(settings, backoff, unpacked(computed), hint)?;
            Ok((packed(delay), source))
        }
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for StandardRetryStrategy<B, Q> {
    type Token = StandardRetryToken;

    #[inline]
    fn acquire_initial_token(&self, _: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        Ok(StandardRetryToken {
            issuer: self.identity(),
            delay: Packed(0),
            delay_nanos: IN_NANOS,
            attempt: NonZeroU32::MIN,
            paid: 0,
            conflicts: 0,
            delay_source: DelaySource::Backoff,
        })
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn refresh_retry_token(
        &self,
        token: StandardRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<StandardRetryToken, RetryError> {
        self.refresh::<true>(token, failure, clock)
    }

    #[inline]
    fn record_success(&self, token: StandardRetryToken, _: &Success, _: &dyn Clock) -> Result<(), ForeignToken> {
        self.succeed(&self.settings, &token)
    }

    fn record_progress(&self, token: StandardRetryToken, clock: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        if !self.issued(&token) {
            return Err(RetryError::ForeignToken);
        }
        self.give_back(&token);
        self.quota.first_succeeded(self.settings.first_refund);
        self.acquire_initial_token(clock)
    }

    #[inline]
    fn starts_empty(&self) -> bool {
        true
    }

    #[inline]
    fn is_permitted(&self, _: &StandardRetryToken) -> bool {
        true
    }

    #[inline]
    fn record_first_success(&self, _: &Success, _: &dyn Clock) {
        self.quota.first_succeeded(self.settings.first_refund);
    }

    fn acquire_hedge(&self, token: &StandardRetryToken, clock: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        self.sell_hedge(&self.settings, token, clock)
    }

    #[cold]
    fn release(&self, token: StandardRetryToken) {
        self.give_back(&token);
    }

    fn refused_delay(&self, token: &StandardRetryToken, failure: &Failure) -> Duration {
        self.delay_of(&self.settings, &self.backoff, token, failure, 0)
    }

    fn quota_level(&self) -> Option<u32> {
        self.quota.level()
    }

    fn full_quota_level(&self) -> Option<u32> {
        self.quota.full_level()
    }

    fn quota_mode(&self) -> Option<QuotaMode> {
        self.quota.mode()
    }

    fn name(&self) -> Option<StrategyName> {
        self.name.map(StrategyName::new)
    }

    fn max_attempts(&self) -> Option<u32> {
        Some(self.settings.max_attempts.max(1))
    }
}
