//! Configuration at run time: settings from code, the environment or a file, and the strategy built from them.

mod configured;
#[cfg(feature = "aws-config")]
mod environment;
mod error;
mod mode;
#[cfg(feature = "aws-config")]
mod profile;
#[cfg(feature = "serde")]
mod text_form;

pub use configured::{ConfiguredStrategy, ConfiguredToken};
pub use error::{ConfigError, ConfigSource};
pub use mode::RetryMode;

use crate::strategy::AdaptiveRetryStrategy;
use crate::strategy::{MaxAttempts, StandardRetryStrategy};
use std::time::Duration;

/// A builder for a strategy whose settings are chosen at run time.
///
/// Each setting is optional. A setting that is not set keeps the value of the strategy that
/// [`build`](RetryConfig::build) or [`build_on`](RetryConfig::build_on) starts from. No input makes it panic.
///
/// ```
/// # use std::time::Duration;
/// use retry_core::config::RetryMode;
/// use retry_core::{ConfigError, RetryConfig, StandardRetryStrategy};
///
/// # fn from_command_line() -> u32 { 4 }
/// let config = RetryConfig::new()
///     .retry_mode(RetryMode::Adaptive)
///     .try_max_attempts(from_command_line())?
///     .backoff(Duration::from_millis(100), Duration::from_secs(5));
///
/// let strategy = config.build_on(StandardRetryStrategy::aws_2_1());
/// assert_eq!(strategy.retry_mode(), RetryMode::Adaptive);
/// assert_eq!(strategy.standard().settings().max_attempts, 4);
///
/// let error = RetryConfig::new().try_max_attempts(0).unwrap_err();
/// assert!(error.to_string().starts_with(r#"code: invalid max_attempts "0""#));
/// # Ok::<(), ConfigError>(())
/// ```
///
/// # The environment and the shared config file
///
/// With the feature `aws-config`, `or_environment` fills in the settings that are not set yet. Nothing is read unless
/// it is called.
///
/// # Your own configuration file
///
/// With the feature `serde`, a `RetryConfig` can be part of your own configuration. Each field is optional, and an
/// unknown field is an error. Times are strings with units. Numbers can be strings, too. The source of a deserialized
/// setting is [`ConfigSource::Code`], and the environment can fill in the other settings. The format must be
/// self-describing, as JSON, TOML and YAML are.
///
/// ```json
/// {
///     "retry_mode": "adaptive",
///     "max_attempts": 4,
///     "backoff": { "base": "100ms", "cap": "20s" },
///     "throttling_base": "1500ms",
///     "max_retry_after": "2min",
///     "quota_capacity": 1000
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetryConfig {
    retry_mode: Option<Sourced<RetryMode>>,
    max_attempts: Option<Sourced<MaxAttempts>>,
    /// The base and the cap.
    backoff: Option<(Duration, Duration)>,
    throttling_base: Option<Duration>,
    max_retry_after: Option<Duration>,
    quota_capacity: Option<u32>,
}

impl RetryConfig {
    /// Creates a configuration without settings.
    pub const fn new() -> Self {
        Self {
            retry_mode: None,
            max_attempts: None,
            backoff: None,
            throttling_base: None,
            max_retry_after: None,
            quota_capacity: None,
        }
    }

    /// Sets the kind of strategy to create. The default is [`RetryMode::Standard`].
    #[must_use]
    pub fn retry_mode(mut self, retry_mode: RetryMode) -> Self {
        self.retry_mode = Some(Sourced::from_code(retry_mode));
        self
    }

    /// Sets the maximum number of attempts of an operation, the first one included; see
    /// [`StandardRetryStrategy::max_attempts`].
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_attempts(mut self, max_attempts: u32) -> Result<Self, ConfigError> {
        let max_attempts =
            MaxAttempts::new(max_attempts).map_err(|setting| ConfigError::setting_in(ConfigSource::Code, setting))?;
        self.max_attempts = Some(Sourced::from_code(max_attempts));
        Ok(self)
    }

    /// Sets the longest delay before the first retry and the longest delay before any retry; see
    /// [`StandardRetryStrategy::backoff`].
    ///
    /// The base applies after throttling too, unless [`throttling_base`](RetryConfig::throttling_base) is set or the
    /// strategy passed to [`build_on`](RetryConfig::build_on) has a separate base for throttling.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.backoff = Some((base, cap));
        self
    }

    /// Sets the longest delay before the first retry if it follows throttling; see
    /// [`StandardRetryStrategy::throttling_base`].
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.throttling_base = Some(base);
        self
    }

    /// Sets the longest wait that the server can ask for; see [`StandardRetryStrategy::max_retry_after`].
    ///
    /// [`Duration::MAX`] means no limit.
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Duration) -> Self {
        self.max_retry_after = Some(max_retry_after);
        self
    }

    /// Sets the capacity of the quota; see [`StandardRetryStrategy::quota_capacity`].
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.quota_capacity = Some(capacity);
        self
    }

    /// Returns the mode, or `None` if it is not set.
    pub fn retry_mode_setting(&self) -> Option<RetryMode> {
        self.retry_mode.as_ref().map(|setting| setting.value)
    }

    /// Returns the source of the mode, or `None` if it is not set.
    pub fn retry_mode_source(&self) -> Option<&ConfigSource> {
        self.retry_mode.as_ref().map(|setting| &setting.source)
    }

    /// Returns the maximum number of attempts, or `None` if it is not set.
    pub fn max_attempts_setting(&self) -> Option<u32> {
        self.max_attempts.as_ref().map(|setting| setting.value.get())
    }

    /// Returns the source of the maximum number of attempts, or `None` if it is not set.
    pub fn max_attempts_source(&self) -> Option<&ConfigSource> {
        self.max_attempts.as_ref().map(|setting| &setting.source)
    }

    /// Returns the base and the cap of the backoff, or `None` if they are not set.
    pub const fn backoff_setting(&self) -> Option<(Duration, Duration)> {
        self.backoff
    }

    /// Returns the base after throttling, or `None` if it is not set.
    pub const fn throttling_base_setting(&self) -> Option<Duration> {
        self.throttling_base
    }

    /// Returns the longest wait that the server can ask for, or `None` if it is not set.
    pub const fn max_retry_after_setting(&self) -> Option<Duration> {
        self.max_retry_after
    }

    /// Returns the capacity of the quota, or `None` if it is not set.
    pub const fn quota_capacity_setting(&self) -> Option<u32> {
        self.quota_capacity
    }

    /// Creates a new strategy. [`StandardRetryStrategy::new()`] supplies the values that are not set here.
    pub fn build(&self) -> ConfiguredStrategy {
        self.build_on(StandardRetryStrategy::new())
    }

    /// Creates a new strategy. `base` supplies the values that are not set here.
    ///
    /// `base` can be a preset such as [`StandardRetryStrategy::aws_2_1()`], or a strategy with other settings that a
    /// `RetryConfig` can't change.
    pub fn build_on(&self, base: StandardRetryStrategy) -> ConfiguredStrategy {
        let mut standard = base;
        if let Some(max_attempts) = self.max_attempts_setting() {
            standard = standard.max_attempts(max_attempts);
        }
        if let Some((base, cap)) = self.backoff {
            standard = standard.backoff(base, cap);
        }
        if let Some(base) = self.throttling_base {
            standard = standard.throttling_base(base);
        }
        if let Some(max_retry_after) = self.max_retry_after {
            standard = standard.max_retry_after(Some(max_retry_after));
        }
        if let Some(capacity) = self.quota_capacity {
            standard = standard.quota_capacity(capacity);
        }
        match self.retry_mode_setting().unwrap_or_default() {
            RetryMode::Standard => ConfiguredStrategy::Standard(standard),
            RetryMode::Adaptive => ConfiguredStrategy::Adaptive(AdaptiveRetryStrategy::over(standard)),
        }
    }
}

/// A value and its source.
#[derive(Clone, Debug)]
struct Sourced<T> {
    value: T,
    source: ConfigSource,
}

impl<T> Sourced<T> {
    const fn from_code(value: T) -> Self {
        Self { value, source: ConfigSource::Code }
    }
}

/// The source is ignored in comparisons.
impl<T: PartialEq> PartialEq for Sourced<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Sourced<T> {}
