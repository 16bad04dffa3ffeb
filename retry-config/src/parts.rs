//! The parts that code chose for a strategy, and whose settings a configuration can change.

use super::resolved::Resolved;
use super::{ConfigError, ConfiguredStrategy, ModeLimiter, RetryConfig, RetryMode};
use retry_core::backoff::{BackoffStrategy, ExponentialBackoff};
use retry_core::limit::{AdaptiveLimiter, SendLimiter};
use retry_core::parts::RandomNumbers;
use retry_core::quota::RetryQuota;
use retry_core::strategy::{LimitedRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
use retry_core::time::Timestamp;
use retry_limits::{PacedLimiter, PacedRetryStrategy, PacedSettings};

/// A strategy that [`RetryConfig::build_on`] can build on: a [`StandardRetryStrategy`], one with a limiter, such as a
/// [`PacedRetryStrategy`], or a [`PatientRetryStrategy`]. This trait is sealed.
///
/// ```
/// use retry_config::{ConfigBase, ConfigError, ConfiguredOn, RetryConfig};
/// use retry_core::StandardRetryStrategy;
///
/// /// Builds on any strategy that code chose.
/// fn configured<S>(config: &RetryConfig, base: S) -> Result<ConfiguredOn<S>, ConfigError>
/// where
///     S: ConfigBase,
/// {
///     config.build_on(base)
/// }
///
/// configured(&RetryConfig::new().quota_capacity(50), StandardRetryStrategy::new())?;
/// # Ok::<(), ConfigError>(())
/// ```
pub trait ConfigBase: SealedBase {
    /// The strategy that is built: a [`ConfiguredStrategy`], or a [`PatientRetryStrategy`].
    type Configured;

    #[doc(hidden)]
    fn configured(self, config: &RetryConfig) -> Result<Self::Configured, ConfigError>;
}

/// The strategy that [`RetryConfig::build_on`] creates from an `S`.
///
/// ```
/// use retry_config::{ConfiguredOn, RetryConfig};
/// use retry_limits::PacedRetryStrategy;
/// use std::sync::{Arc, OnceLock};
///
/// static TABLE: OnceLock<Arc<ConfiguredOn<PacedRetryStrategy>>> = OnceLock::new();
///
/// # let config = RetryConfig::new();
/// TABLE.set(Arc::new(config.build_on(PacedRetryStrategy::new())?)).unwrap();
/// # Ok::<(), retry_config::ConfigError>(())
/// ```
pub type ConfiguredOn<S> = <S as ConfigBase>::Configured;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait SealedBase {}
}
use sealed::SealedBase;

impl<B, Q> SealedBase for StandardRetryStrategy<B, Q> {}

impl<B: BackoffStrategy, Q: RetryQuota> ConfigBase for StandardRetryStrategy<B, Q> {
    type Configured = ConfiguredStrategy<B, Q>;

    fn configured(self, config: &RetryConfig) -> Result<Self::Configured, ConfigError> {
        with_modes(self).configured(config)
    }
}

/// Returns a strategy with the limiters of all modes.
pub(super) fn with_modes<B, Q>(standard: StandardRetryStrategy<B, Q>) -> LimitedRetryStrategy<ModeLimiter, B, Q>
where
    B: BackoffStrategy,
    Q: RetryQuota,
{
    let exponential = standard.backoff_strategy().as_exponential();
    let random = exponential.map_or_else(RandomNumbers::new, ExponentialBackoff::random_numbers);
    LimitedRetryStrategy::with_limiter(standard, ModeLimiter::new(random))
}

impl<L, B, Q> SealedBase for LimitedRetryStrategy<L, B, Q> {}

impl<L: ConfigLimiter, B: BackoffStrategy, Q: RetryQuota> ConfigBase for LimitedRetryStrategy<L, B, Q> {
    type Configured = ConfiguredStrategy<B, Q, L>;

    fn configured(self, config: &RetryConfig) -> Result<Self::Configured, ConfigError> {
        let (limited, base) = Resolved::of(self);
        config.check(&base)?;
        Ok(ConfiguredStrategy::new(config, limited, base))
    }
}

impl<B, Q> SealedBase for PacedRetryStrategy<B, Q> {}

impl<B: BackoffStrategy, Q: RetryQuota> ConfigBase for PacedRetryStrategy<B, Q> {
    type Configured = ConfiguredStrategy<B, Q, PacedLimiter>;

    fn configured(self, config: &RetryConfig) -> Result<Self::Configured, ConfigError> {
        self.into_limited().configured(config)
    }
}

impl<Q> SealedBase for PatientRetryStrategy<ExponentialBackoff, Q> {}

impl<Q: RetryQuota> ConfigBase for PatientRetryStrategy<ExponentialBackoff, Q> {
    type Configured = Self;

    fn configured(self, config: &RetryConfig) -> Result<Self, ConfigError> {
        // It waits for the service in place of a limiter.
        let base = Resolved::of_standard(self.standard(), false, Some(RetryMode::Standard), None);
        config.check(&base)?;
        let settings = base.configured_by(config);
        Ok(self.map_standard(|standard| settings.start(standard, &base)))
    }
}

/// A limiter of a configured strategy. This trait is sealed.
///
/// ```
/// use retry_config::{ConfigLimiter, ConfiguredStrategy};
/// use retry_core::{ExponentialBackoff, TokenBucket};
///
/// type Configured<L> = ConfiguredStrategy<ExponentialBackoff, TokenBucket, L>;
///
/// /// Takes a configured strategy, whatever its limiter is.
/// fn max_attempts<L: ConfigLimiter>(strategy: &Configured<L>) -> u32 {
///     strategy.settings().max_attempts
/// }
/// # assert_eq!(max_attempts(&retry_config::ConfiguredStrategy::default()), 5);
/// ```
pub trait ConfigLimiter: SendLimiter {
    /// Returns the mode that code chose with the limiter, or `None` if the configuration chooses it.
    #[doc(hidden)]
    fn chosen_mode(&self) -> Option<RetryMode>;

    /// Returns the mode, apart from [`RetryMode::Off`].
    #[doc(hidden)]
    fn mode(&self) -> RetryMode;

    /// Returns the settings of the mode `paced` at the start, or `None` if the limiter has no such settings.
    #[doc(hidden)]
    fn pace(&self) -> Option<PacedSettings>;

    /// Sets the initial settings of the limiter.
    #[doc(hidden)]
    fn start_with(&mut self, mode: RetryMode, pace: PacedSettings);

    /// Changes the settings while the limiter is in use.
    #[doc(hidden)]
    fn change(&self, mode: RetryMode, pace: PacedSettings, now: Timestamp);
}

impl ConfigLimiter for AdaptiveLimiter {
    fn chosen_mode(&self) -> Option<RetryMode> {
        Some(RetryMode::Adaptive)
    }

    fn mode(&self) -> RetryMode {
        RetryMode::Adaptive
    }

    fn pace(&self) -> Option<PacedSettings> {
        None
    }

    fn start_with(&mut self, _: RetryMode, _: PacedSettings) {}

    fn change(&self, _: RetryMode, _: PacedSettings, _: Timestamp) {}
}

impl ConfigLimiter for PacedLimiter {
    fn chosen_mode(&self) -> Option<RetryMode> {
        Some(RetryMode::Paced)
    }

    fn mode(&self) -> RetryMode {
        RetryMode::Paced
    }

    fn pace(&self) -> Option<PacedSettings> {
        Some(self.initial_settings())
    }

    fn start_with(&mut self, _: RetryMode, pace: PacedSettings) {
        self.set_initial_settings(pace);
    }

    fn change(&self, _: RetryMode, pace: PacedSettings, now: Timestamp) {
        self.apply(pace, now);
    }
}
