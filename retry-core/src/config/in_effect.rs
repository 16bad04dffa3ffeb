//! How operations use the settings that are in effect in a configured strategy.

use super::ConfiguredStrategy;
use super::configured::ConfiguredToken;
use super::parts::ConfigLimiter;
use super::resolved::Resolved;
use crate::backoff::{BackoffStrategy, ExponentialBackoff};
use crate::policy::{RetryErrorType, Success};
use crate::quota::RetryQuota;
use crate::strategy::{
    Failure, ForeignToken, RetryError, RetryStrategy, RetryToken, StandardRetryToken, forward_strategy,
};
use crate::time::Clock;
use std::time::Duration;

/// The backoff in effect: from the settings, or otherwise the one that code chose.
struct InEffect<'a, B> {
    settings: Option<&'a ExponentialBackoff>,
    chosen: &'a B,
}

impl<B: BackoffStrategy> BackoffStrategy for InEffect<'_, B> {
    #[inline]
    fn compute_next_backoff_delay(&self, retry_attempt: u32, error_type: RetryErrorType) -> Duration {
        match self.settings {
            Some(backoff) => backoff.compute_next_backoff_delay(retry_attempt, error_type),
            None => self.chosen.compute_next_backoff_delay(retry_attempt, error_type),
        }
    }

    fn max_backoff(&self) -> Duration {
        self.settings.map_or_else(|| self.chosen.max_backoff(), BackoffStrategy::max_backoff)
    }

    fn random_part(&self, most: Duration) -> Duration {
        self.settings.map_or_else(|| self.chosen.random_part(most), |backoff| backoff.random_part(most))
    }
}

impl<B: BackoffStrategy, Q: RetryQuota, L: ConfigLimiter> ConfiguredStrategy<B, Q, L> {
    #[cold]
    fn tell_quota(&self, token: &StandardRetryToken) {
        if token.retry_count() == 0 {
            self.kind_quota().first_succeeded(self.first_refund());
        } else {
            self.limited.standard().retry_succeeded(&self.resolved().settings, token);
        }
    }

    fn in_effect<'a>(&'a self, settings: &'a Resolved) -> InEffect<'a, B> {
        InEffect { settings: settings.backoff.as_ref(), chosen: self.limited.standard().backoff_strategy() }
    }
}

impl<B: BackoffStrategy, Q: RetryQuota, L: ConfigLimiter> RetryStrategy for ConfiguredStrategy<B, Q, L> {
    type Token = ConfiguredToken<L>;

    // The default of `record_first_success` calls `record_success`, which uses the settings in effect.
    forward_strategy! {
        self => self.limited;
        except refresh_retry_token, record_success, acquire_hedge, refused_delay, record_first_success, max_attempts
    }

    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError> {
        let resolved = self.resolved();
        self.limited.decide(&resolved.settings, &self.in_effect(&resolved), token, failure, clock)
    }

    #[inline]
    fn record_success(&self, token: Self::Token, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        let token = self.limited.learn_success(token, *success, clock)?;
        // With a full quota, the amount of the refund makes no difference, so it is not read.
        if token.retry_count() > 0 || !self.kind_quota().is_full() {
            self.tell_quota(&token);
        }
        Ok(())
    }

    fn acquire_hedge(&self, token: &Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        self.limited.sell_hedge(&self.resolved().settings, token, clock)
    }

    fn refused_delay(&self, token: &Self::Token, failure: &Failure) -> Duration {
        let resolved = self.resolved();
        self.limited.delay_of(&resolved.settings, &self.in_effect(&resolved), token, failure)
    }

    fn max_attempts(&self) -> Option<u32> {
        Some(self.resolved().settings.max_attempts)
    }
}
