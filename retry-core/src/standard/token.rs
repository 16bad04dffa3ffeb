//! The tokens of the standard strategy: when they are issued, refused, and good for something.

use super::{Refund, StandardRetryStrategy};
use crate::backoff::BackoffStrategy;
use crate::strategy::{DelaySource, Failure, ForeignToken, Ready, RetryError, RetryStrategy, RetryToken};
use crate::time::Clock;
use crate::token_bucket::RetryQuota;
use std::num::NonZeroU32;
use std::time::Duration;

/// The token of a [`StandardRetryStrategy`]: a small plain value.
#[derive(Debug)]
pub struct StandardRetryToken {
    issuer: usize,
    /// Nanoseconds; it saturates after 584 years.
    delay: u64,
    attempt: NonZeroU32,
    /// What was paid for this attempt.
    cost: u32,
    /// The backoff is still to be slept.
    waiting: bool,
    delay_source: DelaySource,
}

impl RetryToken for StandardRetryToken {
    fn attempt(&self) -> u32 {
        self.attempt.get()
    }

    fn delay(&self) -> Duration {
        Duration::from_nanos(self.delay)
    }

    fn delay_source(&self) -> DelaySource {
        self.delay_source
    }
}

impl<B, Q> StandardRetryStrategy<B, Q> {
    /// What tells this strategy from any other: where its state lies.
    #[inline]
    fn identity(&self) -> usize {
        std::ptr::from_ref(self).addr()
    }

    /// Whether the token is one of its own.
    #[inline]
    pub(crate) fn issued(&self, token: &StandardRetryToken) -> bool {
        token.issuer == self.identity()
    }
}

impl<B, Q: RetryQuota> StandardRetryStrategy<B, Q> {
    #[cold]
    fn refund_retry(&self, token: &StandardRetryToken) {
        self.quota.refund(match self.settings.retry_refund {
            Refund::Amount(amount) => amount,
            Refund::LastCost => token.cost,
        });
    }
}

impl<B: BackoffStrategy, Q: RetryQuota> RetryStrategy for StandardRetryStrategy<B, Q> {
    type Token = StandardRetryToken;

    #[inline]
    fn acquire_initial_token(&self, _clock: &dyn Clock) -> Result<StandardRetryToken, RetryError> {
        Ok(StandardRetryToken {
            issuer: self.identity(),
            delay: 0,
            attempt: NonZeroU32::MIN,
            cost: 0,
            waiting: false,
            delay_source: DelaySource::Backoff,
        })
    }

    #[inline]
    fn refresh_retry_token(
        &self,
        token: StandardRetryToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<StandardRetryToken, RetryError> {
        if !self.issued(&token) {
            return Err(RetryError::ForeignToken);
        }
        let (true, Some(error_type)) = (failure.is_retryable(), failure.error_type()) else {
            return Err(RetryError::NotRetryable);
        };
        if token.attempt() >= self.settings.max_attempts {
            return Err(RetryError::MaxAttempts);
        }
        if failure.retry_after().zip(self.settings.max_retry_after).is_some_and(|(hint, max)| hint > max) {
            return Err(RetryError::RetryAfterTooLong);
        }
        let backoff = self.backoff.compute_next_backoff_delay(token.retry_count(), error_type);
        let delay = self.settings.hint_limit.wait(backoff, self.backoff.max_backoff(), failure.retry_after());
        if failure.remaining().is_some_and(|remaining| delay > remaining) {
            return Err(RetryError::MaxTime);
        }
        let cost = self.settings.costs.of(error_type);
        if !self.quota.try_acquire(cost, clock) {
            return Err(RetryError::QuotaExhausted);
        }
        Ok(StandardRetryToken {
            issuer: token.issuer,
            delay: u64::try_from(delay.as_nanos()).unwrap_or(u64::MAX),
            attempt: token.attempt.saturating_add(1),
            cost,
            waiting: true,
            delay_source: if delay > backoff { DelaySource::RetryAfter } else { DelaySource::Backoff },
        })
    }

    #[inline]
    fn record_success(&self, token: StandardRetryToken, _clock: &dyn Clock) -> Result<(), ForeignToken> {
        if !self.issued(&token) {
            return Err(ForeignToken);
        }
        if token.retry_count() == 0 {
            self.quota.refund(self.settings.first_refund);
        } else {
            self.refund_retry(&token);
        }
        Ok(())
    }

    #[inline]
    fn ready(&self, token: &mut StandardRetryToken, _clock: &dyn Clock) -> Ready {
        if token.waiting && self.issued(token) {
            token.waiting = false;
            Ready::After(token.delay())
        } else {
            Ready::Now
        }
    }

    #[cold]
    fn release(&self, token: StandardRetryToken) {
        if self.issued(&token) {
            self.quota.refund(token.cost);
        }
    }

    fn quota_level(&self) -> Option<u32> {
        Some(self.quota.available())
    }
}
