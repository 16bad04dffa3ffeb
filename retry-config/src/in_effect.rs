//! How operations use the settings that are in effect in a configured strategy.

use super::ConfiguredStrategy;
use super::configured::ConfiguredToken;
use super::parts::ConfigLimiter;
use super::resolved::Resolved;
use retry_core::backoff::{BackoffContext, BackoffStrategy, ExponentialBackoff};
use retry_core::forward_strategy;
use retry_core::policy::RetryErrorType;
use retry_core::quota::RetryQuota;
use retry_core::strategy::{Failure, RetryError, RetryStrategy};
use retry_core::time::Clock;
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

    #[inline]
    fn delay_in_context(&self, context: &BackoffContext) -> Duration {
        match self.settings {
            Some(backoff) => backoff.delay_in_context(context),
            None => self.chosen.delay_in_context(context),
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
    fn in_effect<'a>(&'a self, settings: &'a Resolved) -> InEffect<'a, B> {
        InEffect { settings: settings.backoff.as_ref(), chosen: self.limited.standard().backoff_strategy() }
    }
}

impl<B: BackoffStrategy, Q: RetryQuota, L: ConfigLimiter> RetryStrategy for ConfiguredStrategy<B, Q, L> {
    type Token = ConfiguredToken<L>;

    // The quota has the refunds in effect.
    forward_strategy! {
        self => self.limited;
        except refresh_retry_token, acquire_hedge, refused_delay, max_attempts
    }

    fn refresh_retry_token(
        &self,
        token: Self::Token,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<Self::Token, RetryError> {
        let resolved = self.resolved();
        let backoff = self.in_effect(&resolved);
        self.limited.deciding_by(&resolved.settings, &backoff).refresh_retry_token(token, failure, clock)
    }

    fn acquire_hedge(&self, token: &Self::Token, clock: &dyn Clock) -> Result<Self::Token, RetryError> {
        let resolved = self.resolved();
        let backoff = self.in_effect(&resolved);
        self.limited.deciding_by(&resolved.settings, &backoff).acquire_hedge(token, clock)
    }

    fn refused_delay(&self, token: &Self::Token, failure: &Failure) -> Duration {
        let resolved = self.resolved();
        let backoff = self.in_effect(&resolved);
        self.limited.deciding_by(&resolved.settings, &backoff).refused_delay(token, failure)
    }

    fn max_attempts(&self) -> Option<u32> {
        Some(self.resolved().settings.max_attempts)
    }
}
