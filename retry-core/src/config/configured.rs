//! A strategy whose mode is chosen at run time.

use super::RetryMode;
use crate::policy::Success;
use crate::strategy::{
    AdaptiveRetryStrategy, AdaptiveRetryToken, DelaySource, Failure, ForeignToken, LazyWaker, Ready, RetryError,
    RetryStrategy, RetryToken, StandardRetryStrategy, StandardRetryToken, StrategyName,
};
use crate::time::Clock;
use std::time::Duration;

/// The standard or the adaptive strategy, as chosen by a [`RetryConfig`](crate::RetryConfig).
///
/// The enum contains the strategy itself and not a box, so a call costs one more comparison and no allocation.
#[derive(Debug)]
#[non_exhaustive]
#[expect(clippy::large_enum_variant, reason = "each resource has only one, and a box would slow down each call")]
pub enum ConfiguredStrategy {
    /// The strategy of [`RetryMode::Standard`].
    Standard(StandardRetryStrategy),
    /// The strategy of [`RetryMode::Adaptive`].
    Adaptive(AdaptiveRetryStrategy),
}

impl ConfiguredStrategy {
    /// Returns the mode.
    pub const fn retry_mode(&self) -> RetryMode {
        match self {
            Self::Standard(_) => RetryMode::Standard,
            Self::Adaptive(_) => RetryMode::Adaptive,
        }
    }

    /// Returns the standard strategy, or the one that the adaptive strategy is built on. It has the settings, the
    /// backoff and the quota.
    pub fn standard(&self) -> &StandardRetryStrategy {
        match self {
            Self::Standard(strategy) => strategy,
            Self::Adaptive(strategy) => strategy.standard(),
        }
    }

    /// Turns the retries of this strategy on or off; see [`StandardRetryStrategy::set_enabled`].
    pub fn set_enabled(&self, enabled: bool) {
        self.standard().set_enabled(enabled);
    }

    /// Returns whether the retries of this strategy are on; see [`set_enabled`](ConfiguredStrategy::set_enabled).
    pub fn is_enabled(&self) -> bool {
        self.standard().is_enabled()
    }
}

/// The token of a [`ConfiguredStrategy`].
#[derive(Debug)]
pub struct ConfiguredToken(Issued);

#[derive(Debug)]
enum Issued {
    Standard(StandardRetryToken),
    Adaptive(AdaptiveRetryToken),
}

impl RetryToken for ConfiguredToken {
    fn attempt(&self) -> u32 {
        match &self.0 {
            Issued::Standard(token) => token.attempt(),
            Issued::Adaptive(token) => token.attempt(),
        }
    }

    fn delay(&self) -> Duration {
        match &self.0 {
            Issued::Standard(token) => token.delay(),
            Issued::Adaptive(token) => token.delay(),
        }
    }

    fn delay_source(&self) -> DelaySource {
        match &self.0 {
            Issued::Standard(token) => token.delay_source(),
            Issued::Adaptive(token) => token.delay_source(),
        }
    }
}

impl ConfiguredToken {
    const fn standard(token: StandardRetryToken) -> Self {
        Self(Issued::Standard(token))
    }

    const fn adaptive(token: AdaptiveRetryToken) -> Self {
        Self(Issued::Adaptive(token))
    }
}

/// A token of the other mode is always foreign. For a token of the same mode, the inner strategy checks the issuer.
impl RetryStrategy for ConfiguredStrategy {
    type Token = ConfiguredToken;

    #[inline]
    fn acquire_initial_token(&self, clock: &dyn Clock) -> Result<ConfiguredToken, RetryError> {
        match self {
            Self::Standard(strategy) => strategy.acquire_initial_token(clock).map(ConfiguredToken::standard),
            Self::Adaptive(strategy) => strategy.acquire_initial_token(clock).map(ConfiguredToken::adaptive),
        }
    }

    fn refresh_retry_token(
        &self,
        token: ConfiguredToken,
        failure: &Failure,
        clock: &dyn Clock,
    ) -> Result<ConfiguredToken, RetryError> {
        match (self, token.0) {
            (Self::Standard(strategy), Issued::Standard(token)) => {
                strategy.refresh_retry_token(token, failure, clock).map(ConfiguredToken::standard)
            }
            (Self::Adaptive(strategy), Issued::Adaptive(token)) => {
                strategy.refresh_retry_token(token, failure, clock).map(ConfiguredToken::adaptive)
            }
            _ => Err(RetryError::ForeignToken),
        }
    }

    #[inline]
    fn record_success(&self, token: ConfiguredToken, success: &Success, clock: &dyn Clock) -> Result<(), ForeignToken> {
        match (self, token.0) {
            (Self::Standard(strategy), Issued::Standard(token)) => strategy.record_success(token, success, clock),
            (Self::Adaptive(strategy), Issued::Adaptive(token)) => strategy.record_success(token, success, clock),
            _ => Err(ForeignToken),
        }
    }

    #[inline]
    fn ready(&self, token: &mut ConfiguredToken, clock: &dyn Clock, waker: Option<&LazyWaker<'_>>) -> Ready {
        match (self, &mut token.0) {
            (Self::Standard(strategy), Issued::Standard(token)) => strategy.ready(token, clock, waker),
            (Self::Adaptive(strategy), Issued::Adaptive(token)) => strategy.ready(token, clock, waker),
            _ => Ready::Now,
        }
    }

    fn release(&self, token: ConfiguredToken) {
        match (self, token.0) {
            (Self::Standard(strategy), Issued::Standard(token)) => strategy.release(token),
            (Self::Adaptive(strategy), Issued::Adaptive(token)) => strategy.release(token),
            _ => {}
        }
    }

    fn quota_level(&self) -> Option<u32> {
        self.standard().quota_level()
    }

    fn send_rate(&self) -> Option<f64> {
        match self {
            Self::Standard(_) => None,
            Self::Adaptive(strategy) => strategy.send_rate(),
        }
    }

    fn name(&self) -> Option<StrategyName> {
        self.standard().name_setting().map(StrategyName::new)
    }
}
