//! Configuration at run time: settings from code, the environment or a file, and the strategy built from them.

mod configured;
mod duration;
#[cfg(feature = "aws-config")]
mod environment;
mod error;
mod getters;
mod in_effect;
mod keys;
mod mode;
mod mode_limiter;
mod origins;
mod parts;
mod prefix;
mod preset;
#[cfg(feature = "aws-config")]
mod profile;
mod resolved;
mod scoped;
mod sections;
mod suggest;
#[cfg(feature = "serde")]
mod text_form;

pub use crate::support::ConfigSection;
pub use configured::{ConfiguredStrategy, ConfiguredToken};
pub use error::{ConfigError, ConfigSource};
pub use mode::RetryMode;
pub use mode_limiter::ModeLimiter;
#[doc(hidden)]
pub use mode_limiter::ModePlace;
pub use parts::{ConfigBase, ConfigLimiter, ConfiguredOn};
pub use preset::RetryPreset;
pub use scoped::ScopedRetryConfig;

use crate::backoff::Jitter;
use crate::policy::RetryErrorType;
use crate::quota::TokenBucket;
use crate::strategy::{HintJitter, HintLimit, MaxAttempts, Refund, RetryCosts, StandardRetryStrategy};
use crate::support::InvalidSetting;
use keys::Costs;
use origins::Origins;
use resolved::Resolved;
use sections::Sections;
use std::time::Duration;

/// The settings of a strategy, chosen at run time: in code, in a file, or in the environment.
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
///     .mode(RetryMode::Adaptive)
///     .try_max_attempts(from_command_line())?
///     .backoff(Duration::from_millis(100), Duration::from_secs(5));
///
/// let strategy = config.build_on(StandardRetryStrategy::aws_2_1())?;
/// assert_eq!(strategy.mode(), RetryMode::Adaptive);
/// assert_eq!(strategy.settings().max_attempts, 4);
///
/// let error = RetryConfig::new().try_max_attempts(0).unwrap_err();
/// assert!(error.to_string().starts_with(r#"code: invalid max_attempts "0""#));
/// # Ok::<(), ConfigError>(())
/// ```
///
/// # Changing settings while a program runs
///
/// [`ConfiguredStrategy::apply`] gives a running strategy other settings. Its operations, its quota and its limiter go
/// on.
///
/// # Your own configuration file
///
/// With the feature `serde`, a `RetryConfig` can be a field of your own configuration, in any self-describing format,
/// such as TOML, YAML and JSON. This file has all keys:
///
/// ```toml
/// [store]
/// preset = "aws_2_1"          # the numbers to start from: default, aws_2_0 or aws_2_1
/// mode = "adaptive"           # standard, adaptive, paced or off
/// max_attempts = 4            # the first attempt included
/// max_retry_after = "2m"      # the longest wait that the server may ask for, or "unlimited"
/// hint_limit = "max_backoff"  # "unlimited", "max_backoff" or { beyond_backoff = "5s" }
/// hint_jitter = { percent = 10, at_most = "5s" } # a random part above a wait that the server asks for
///
/// [store.backoff]
/// base = "100ms"
/// cap = "20s"
/// throttling_base = "1500ms"
/// conflict_base = "20ms"
/// jitter = "full"             # full, equal, none or a factor from 0 to 1
///
/// [store.quota]
/// capacity = 1000
/// refill = { amount = 10, every = "1s" }
/// costs = { throttling = 5, timeout = 10, conflict = 0, other = 5 }
/// refunds = { first_attempt = 1, after_retry = "last_cost" } # after_retry can be a number
///
/// [store.paced]               # for the mode paced
/// ramp = true
/// max_throttled = 20          # attempts of an operation
/// ```
///
/// - **Each key is optional**, except that a refill needs both of its keys. A key without a value (`null`) counts as not
///   set.
/// - **A duration** is a text, as in the macros: a whole number and its unit, `ns`, `us`, `ms`, `s`, `m` or `h`.
/// - **A number** can be a text, too.
/// - **A base above the cap** counts as the cap, and a `conflict_base` above the `base` as the base, as in the builders.
/// - **An unknown key is an error**, with a suggestion.
///
/// `RetryConfig::from_file_section` reads a section of a file with errors that name the file and
/// the whole key. In a field of your own configuration, an error names the key from the field on, and the format adds
/// the line. The source of such a setting is [`ConfigSource::Code`].
///
/// # The environment
///
/// [`from_environment_prefix`](RetryConfig::from_environment_prefix) reads the same keys from variables of your own, such
/// as `STORE_RETRY_MAX_ATTEMPTS` and `STORE_RETRY_BACKOFF_BASE`. With the feature `aws-config`, `or_environment` fills in
/// the mode and the maximum number of attempts from the variables and the shared config file of AWS. Nothing is read
/// unless it is called. [`or`](RetryConfig::or) combines sources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetryConfig {
    preset: Option<RetryPreset>,
    mode: Option<Sourced<RetryMode>>,
    max_attempts: Option<Sourced<MaxAttempts>>,
    /// The inner `None` means no limit.
    #[expect(clippy::option_option, reason = "a setting that is not set is not the same as no limit")]
    max_retry_after: Option<Option<Duration>>,
    hint_limit: Option<HintLimit>,
    hint_jitter_percent: Option<u32>,
    hint_jitter_at_most: Option<Duration>,
    base: Option<Duration>,
    cap: Option<Duration>,
    throttling_base: Option<Duration>,
    conflict_base: Option<Duration>,
    jitter: Option<Jitter>,
    quota_capacity: Option<u32>,
    quota_refill: Option<(u32, Duration)>,
    costs: Costs,
    first_refund: Option<u32>,
    retry_refund: Option<Refund>,
    ramp: Option<bool>,
    max_throttled: Option<u32>,
    origins: Origins,
    sections: Sections,
}

/// A fixed factor of a jitter is from 0 to 1, so it is equal to itself.
impl Eq for RetryConfig {}

impl RetryConfig {
    /// Creates a configuration without settings.
    pub const fn new() -> Self {
        Self {
            preset: None,
            mode: None,
            max_attempts: None,
            max_retry_after: None,
            hint_limit: None,
            hint_jitter_percent: None,
            hint_jitter_at_most: None,
            base: None,
            cap: None,
            throttling_base: None,
            conflict_base: None,
            jitter: None,
            quota_capacity: None,
            quota_refill: None,
            costs: Costs::new(),
            first_refund: None,
            retry_refund: None,
            ramp: None,
            max_throttled: None,
            origins: Origins::new(),
            sections: Sections::new(),
        }
    }

    /// Sets the numbers to start from, in place of those of the strategy that [`build_on`](RetryConfig::build_on) starts
    /// from.
    #[must_use]
    pub const fn preset(mut self, preset: RetryPreset) -> Self {
        self.preset = Some(preset);
        self
    }

    /// Sets the kind of strategy, or switches retries off. The default is [`RetryMode::Standard`].
    #[must_use]
    pub fn mode(mut self, mode: RetryMode) -> Self {
        self.mode = Some(Sourced::from_code(mode));
        self
    }

    /// Sets the maximum number of attempts of an operation, the first one included; see
    /// [`StandardRetryStrategy::max_attempts`].
    ///
    /// # Errors
    ///
    /// Returns an error if the number is 0.
    pub fn try_max_attempts(mut self, max_attempts: u32) -> Result<Self, ConfigError> {
        self.max_attempts = Some(Sourced::from_code(MaxAttempts::new(max_attempts).map_err(in_code)?));
        Ok(self)
    }

    /// Sets the longest wait that the server can ask for; `None` means no limit. See
    /// [`StandardRetryStrategy::max_retry_after`].
    #[must_use]
    pub const fn max_retry_after(mut self, max_retry_after: Option<Duration>) -> Self {
        self.max_retry_after = Some(max_retry_after);
        self
    }

    /// Sets the limit to which a wait that the server asks for is cut; see [`StandardRetryStrategy::hint_limit`].
    #[must_use]
    pub const fn hint_limit(mut self, hint_limit: HintLimit) -> Self {
        self.hint_limit = Some(hint_limit);
        self
    }

    /// Sets the random part that is added to a wait that the server asks for; see
    /// [`StandardRetryStrategy::hint_jitter`].
    #[must_use]
    pub const fn hint_jitter(mut self, hint_jitter: HintJitter) -> Self {
        self.hint_jitter_percent = Some(hint_jitter.percent());
        self.hint_jitter_at_most = Some(hint_jitter.at_most());
        self
    }

    /// Sets the longest delay before the first retry and the longest delay before any retry; see
    /// [`StandardRetryStrategy::backoff`].
    ///
    /// The base applies after throttling too, unless [`throttling_base`](RetryConfig::throttling_base) is set or the
    /// strategy passed to [`build_on`](RetryConfig::build_on) has a separate base for throttling.
    #[must_use]
    pub const fn backoff(mut self, base: Duration, cap: Duration) -> Self {
        self.base = Some(base);
        self.cap = Some(cap);
        self
    }

    /// Sets the longest delay before the first retry if it follows throttling; see
    /// [`StandardRetryStrategy::throttling_base`].
    #[must_use]
    pub const fn throttling_base(mut self, base: Duration) -> Self {
        self.throttling_base = Some(base);
        self
    }

    /// Sets the longest delay before the first retry if it follows a conflict; see
    /// [`StandardRetryStrategy::conflict_base`].
    #[must_use]
    pub const fn conflict_base(mut self, base: Duration) -> Self {
        self.conflict_base = Some(base);
        self
    }

    /// Sets the jitter.
    ///
    /// # Errors
    ///
    /// Returns an error if a [fixed factor](Jitter::Fixed) is not from 0 to 1.
    pub fn try_jitter(mut self, jitter: Jitter) -> Result<Self, ConfigError> {
        self.jitter = Some(jitter.checked().map_err(in_code)?);
        Ok(self)
    }

    /// Sets the capacity of the quota; see [`StandardRetryStrategy::quota_capacity`].
    #[must_use]
    pub const fn quota_capacity(mut self, capacity: u32) -> Self {
        self.quota_capacity = Some(capacity);
        self
    }

    /// Sets a refill of the quota over time; see [`StandardRetryStrategy::quota_refill`].
    ///
    /// # Errors
    ///
    /// Returns an error if the period is zero.
    pub fn try_quota_refill(mut self, amount: u32, every: Duration) -> Result<Self, ConfigError> {
        TokenBucket::new(0).try_refill(amount, every).map_err(in_code)?;
        self.quota_refill = Some((amount, every));
        Ok(self)
    }

    /// Sets the costs of retries; see [`StandardRetryStrategy::retry_costs`].
    #[must_use]
    pub const fn retry_costs(mut self, costs: RetryCosts) -> Self {
        self.costs = Costs {
            throttling: Some(costs.of(RetryErrorType::Throttling)),
            timeout: Some(costs.of(RetryErrorType::Timeout)),
            conflict: Some(costs.of(RetryErrorType::Conflict)),
            other: Some(costs.of(RetryErrorType::Other)),
        };
        self
    }

    /// Sets the amounts that a success gives back to the quota; see [`StandardRetryStrategy::refunds`].
    #[must_use]
    pub const fn refunds(mut self, first_attempt: u32, after_retry: Refund) -> Self {
        self.first_refund = Some(first_attempt);
        self.retry_refund = Some(after_retry);
        self
    }

    /// Sets whether the mode [`Paced`](RetryMode::Paced) begins with a ramp; see
    /// [`PacedRetryStrategy::ramp`](crate::PacedRetryStrategy::ramp). The default is `true`.
    #[must_use]
    pub const fn paced_ramp(mut self, has_ramp: bool) -> Self {
        self.ramp = Some(has_ramp);
        self
    }

    /// Sets the maximum number of attempts of an operation that may be throttled in the mode [`Paced`](RetryMode::Paced);
    /// see [`PacedRetryStrategy::max_throttled`](crate::PacedRetryStrategy::max_throttled). The default is 20.
    #[must_use]
    pub const fn paced_max_throttled(mut self, attempts: u32) -> Self {
        self.max_throttled = Some(attempts);
        self
    }

    /// Creates a new strategy. [`StandardRetryStrategy::new()`] supplies the values that are not set here.
    pub fn build(&self) -> ConfiguredStrategy {
        ConfiguredStrategy::new(self, StandardRetryStrategy::new().into_limited())
    }

    /// Creates a new strategy. `base` supplies the values that are not set here.
    ///
    /// `base` can be a preset such as [`StandardRetryStrategy::aws_2_1()`], or a strategy with a name, which is no
    /// setting. Parts that it was given in code are kept: its backoff, its quota and its limit. Their settings are set, if
    /// they have them:
    ///
    /// - the keys `backoff.*`, if the backoff is an [`ExponentialBackoff`](crate::ExponentialBackoff), also by a pointer;
    /// - `quota.capacity` and `quota.refill`, if the quota is a [`TokenBucket`], also by a pointer. A bucket by a pointer may
    ///   be that of other strategies, too: it is changed while it is in use, and not by a preset;
    /// - the keys `paced.*`, except in an [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy).
    ///
    /// ```
    /// use retry_core::config::RetryMode;
    /// use retry_core::quota::NoQuota;
    /// use retry_core::{PacedRetryStrategy, RetryConfig, StandardRetryStrategy};
    ///
    /// let config = RetryConfig::new().try_max_attempts(4)?;
    /// let strategy = config.build_on(PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(NoQuota)))?;
    /// assert_eq!((strategy.mode(), strategy.settings().max_attempts), (RetryMode::Paced, 4));
    ///
    /// let config = config.quota_capacity(100).mode(RetryMode::Adaptive);
    /// let error = config.build_on(PacedRetryStrategy::new()).unwrap_err();
    /// assert_eq!((error.part(), error.key().as_deref()), (Some("limit"), Some("mode")));
    /// let error = config.build_on(StandardRetryStrategy::new().with_quota(NoQuota)).unwrap_err();
    /// assert_eq!((error.part(), error.key().as_deref()), (Some("quota"), Some("quota.capacity")));
    /// # Ok::<(), retry_core::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a part of `base` has no such setting, or if the mode is not that of its limit. A mode from the
    /// environment or the shared config file of AWS is no error: code comes before them.
    pub fn build_on<S: ConfigBase>(&self, base: S) -> Result<ConfiguredOn<S>, ConfigError> {
        let mut limited = base.into_limited();
        self.check(&Resolved::of(&mut limited))?;
        Ok(ConfiguredStrategy::new(self, limited))
    }
}

fn in_code(setting: InvalidSetting) -> ConfigError {
    ConfigError::setting_in(ConfigSource::Code, setting)
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
