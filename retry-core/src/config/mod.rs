//! Settings that come in at run time, and the strategy that they make.

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

/// The settings that a deployment may want to choose, each of which can be left open.
///
/// What is said here is taken; what is left open is left to the strategy that [`build`](RetryConfig::build) or
/// [`build_on`](RetryConfig::build_on) starts from. No value from outside makes it panic.
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
/// With the feature `aws-config`, `or_environment` fills in what is still open. Nothing is
/// read unless it is called.
///
/// # Formats of your own
///
/// With the feature `serde` it can be a part of your own configuration. Each field can be missing, and a name that is
/// none of these is an error. Times are text with units; a number can be text too. What was deserialized counts as said
/// by code, and the environment can fill in the rest. (The format must describe itself, as JSON, TOML and YAML do.)
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
    /// Base and cap.
    backoff: Option<(Duration, Duration)>,
    throttling_base: Option<Duration>,
    max_retry_after: Option<Duration>,
    quota_capacity: Option<u32>,
}

impl RetryConfig {
    /// All is left open.
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

    /// Sets which strategy is made: the standard one if it is left open.
    #[must_use]
    pub fn retry_mode(mut self, retry_mode: RetryMode) -> Self {
        self.retry_mode = Some(Sourced::by_code(retry_mode));
        self
    }

    /// Sets how many attempts an operation makes at most, the first one included, see
    /// [`StandardRetryStrategy::max_attempts`].
    ///
    /// # Errors
    ///
    /// If it is 0.
    pub fn try_max_attempts(mut self, max_attempts: u32) -> Result<Self, ConfigError> {
        let max_attempts =
            MaxAttempts::new(max_attempts).map_err(|setting| ConfigError::setting_in(ConfigSource::Code, setting))?;
        self.max_attempts = Some(Sourced::by_code(max_attempts));
        Ok(self)
    }

    /// Sets the longest delay before the first retry and the longest of all, see [`StandardRetryStrategy::backoff`]. It
    /// holds after throttling too, unless [`throttling_base`](RetryConfig::throttling_base) is set or the strategy that it
    /// is built on has a base of its own for that.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.backoff = Some((base, cap));
        self
    }

    /// Sets the longest delay before the first retry if that comes after a throttling, see
    /// [`StandardRetryStrategy::throttling_base`].
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.throttling_base = Some(base);
        self
    }

    /// Sets the longest wait that the server can ask for, see [`StandardRetryStrategy::max_retry_after`].
    /// [`Duration::MAX`] is as good as no limit.
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Duration) -> Self {
        self.max_retry_after = Some(max_retry_after);
        self
    }

    /// Sets what the quota holds when it is full, see [`StandardRetryStrategy::quota_capacity`].
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.quota_capacity = Some(capacity);
        self
    }

    /// The mode, if it was said.
    pub fn retry_mode_setting(&self) -> Option<RetryMode> {
        self.retry_mode.as_ref().map(|said| said.value)
    }

    /// Who said the mode, if it was said.
    pub fn retry_mode_source(&self) -> Option<&ConfigSource> {
        self.retry_mode.as_ref().map(|said| &said.source)
    }

    /// The maximum of attempts, if it was said.
    pub fn max_attempts_setting(&self) -> Option<u32> {
        self.max_attempts.as_ref().map(|said| said.value.get())
    }

    /// Who said the maximum of attempts, if it was said.
    pub fn max_attempts_source(&self) -> Option<&ConfigSource> {
        self.max_attempts.as_ref().map(|said| &said.source)
    }

    /// Base and cap of the backoff, if they were said.
    pub const fn backoff_setting(&self) -> Option<(Duration, Duration)> {
        self.backoff
    }

    /// The base after a throttling, if it was said.
    pub const fn throttling_base_setting(&self) -> Option<Duration> {
        self.throttling_base
    }

    /// The longest wait that the server can ask for, if it was said.
    pub const fn max_retry_after_setting(&self) -> Option<Duration> {
        self.max_retry_after
    }

    /// What the quota holds when it is full, if it was said.
    pub const fn quota_capacity_setting(&self) -> Option<u32> {
        self.quota_capacity
    }

    /// Makes a new strategy, in which [`StandardRetryStrategy::new()`] has the say where this is silent.
    pub fn build(&self) -> ConfiguredStrategy {
        self.build_on(StandardRetryStrategy::new())
    }

    /// Makes a new strategy, in which `base` has the say where this is silent: a preset such as
    /// [`StandardRetryStrategy::aws_2_1()`], or one with settings that no deployment should touch.
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
    const fn by_code(value: T) -> Self {
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
