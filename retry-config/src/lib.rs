//! Settings of the strategies of retry-core at run time: from code, the environment or a file, and the strategy built from them.
//!
//! ```
//! use retry_config::RetryConfig;
//! use retry_core::StandardRetryStrategy;
//!
//! // `STORE_RETRY_MAX_ATTEMPTS=7` in the environment of the program.
//! let variables = [("STORE_RETRY_MAX_ATTEMPTS", "7")];
//! let config = RetryConfig::from_prefixed_variables("STORE_RETRY_", variables)?;
//! let strategy = config.build_on(StandardRetryStrategy::new())?;
//! assert_eq!(strategy.settings().max_attempts, 7);
//! # Ok::<(), retry_config::ConfigError>(())
//! ```
//!
//! | item | use |
//! |---|---|
//! | [`RetryConfig`] | the settings, with all keys of a file |
//! | [`ConfiguredStrategy`] | a strategy with these settings, which can [change](ConfiguredStrategy::apply) while it runs |
//! | [`ScopedRetryConfig`] | settings for each key of a [`ScopedRetryStrategy`](retry_core::ScopedRetryStrategy) |
//! | [`ConfigError`], [`ConfigSource`] | what is wrong, and where it was found |
//! | [`ConfigSection`](retry_core::quota::ConfigSection) | the hook by which your own quota gets a section in the file |
//!
//! # Features
//!
//! | feature | default | adds |
//! |---|---|---|
//! | `aws-config` | no | [`RetryConfig`] from `AWS_RETRY_MODE`, `AWS_MAX_ATTEMPTS` and the shared AWS config file |
//! | `serde` | no | serialization and deserialization of [`RetryConfig`] and [`RetryMode`] |
#![cfg_attr(docsrs, feature(doc_cfg))]

mod configured;
mod configured_quota;
mod duration;
#[cfg(feature = "aws-config")]
mod environment;
mod error;
mod fits_strategy;
mod foreign;
mod in_effect;
#[cfg(feature = "serde")]
mod key_names;
mod keys;
mod live;
mod max_attempts;
mod mode;
mod mode_limiter;
mod origins;
mod paced;
mod parts;
mod prefix;
mod preset;
#[cfg(feature = "aws-config")]
mod profile;
mod quota_kind;
mod reader;
mod resolved;
mod scoped;
mod sections;
mod setters;
mod suggest;
mod sync;
#[cfg(feature = "serde")]
mod text_form;
mod value;

pub use configured::{ConfiguredStrategy, ConfiguredToken};
pub use error::{ConfigError, ConfigSource};
pub use mode::RetryMode;
pub use mode_limiter::ModeLimiter;
#[doc(hidden)]
pub use mode_limiter::ModePlace;
pub use parts::{ConfigBase, ConfigLimiter, ConfiguredOn};
pub use preset::RetryPreset;
pub use quota_kind::QuotaKind;
pub use scoped::ScopedRetryConfig;

use keys::Settings;
use origins::Origins;
use retry_core::InvalidSetting;
use sections::Sections;

/// The settings of a strategy, chosen at run time: in code, in a file, or in the environment.
///
/// Each setting is optional. A setting that is not set keeps the value of the strategy that is passed to
/// [`build_on`](RetryConfig::build_on). No input makes it panic.
///
/// ```
/// # use std::time::Duration;
/// use retry_config::{ConfigError, RetryConfig, RetryMode};
/// use retry_core::StandardRetryStrategy;
///
/// # fn from_command_line() -> u32 { 4 }
/// let config = RetryConfig::new()
///     .mode(RetryMode::Adaptive)
///     .try_max_attempts(from_command_line())?
///     .backoff(Duration::from_secs(1), Duration::from_secs(5));
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
/// [`ConfiguredStrategy::apply`] changes the settings of a running strategy. Its operations, its quota and its limiter
/// continue.
///
/// # Your own configuration file
///
/// With the feature `serde`, a `RetryConfig` can be a field of your configuration, in any self-describing format,
/// such as TOML, YAML and JSON. This file has all keys:
///
/// ```toml
/// [store]
/// preset = "aws_2_1"          # the numbers to start from: default, aws_2_0 or aws_2_1
/// mode = "paced"              # standard, adaptive, paced or off
/// max_attempts = 4            # the first attempt included
/// max_retry_after = "2m"      # the longest wait that the server may ask for, or "unlimited"
/// hint_replaces_backoff = false # whether a wait of the server replaces a longer backoff
/// hint_limit = "max_backoff"  # "unlimited", "max_backoff" or { beyond_backoff = "5s" }
/// # a random part above a wait that the server asks for
/// hint_jitter = { percent = 10, at_most = "5s" }
///
/// [store.backoff]
/// base = "1s"
/// cap = "20s"
/// throttling_base = "1500ms"
/// conflict_base = "20ms"
/// jitter = "full"             # full, equal, none or a factor from 0 to 1
///
/// [store.quota]
/// kind = "bucket"             # or "evidence", which has none of the other keys but costs.conflict
/// capacity = 1000
/// refill = { amount = 10, every = "1s" }
/// costs = { throttling = 5, timeout = 10, conflict = 0, other = 5 }
/// refunds = { first_attempt = 1, after_retry = "last_cost" } # after_retry can be a number
///
/// [store.paced]               # for the mode paced; max_rate is an error in standard and adaptive
/// ramp = true
/// max_throttled_time = "5m"   # from the first throttled attempt of an operation
/// rejections = "throttling"   # or "server_errors", or "timeouts", each with the ones before it
/// max_rate = 100              # sends per second, if the limit is known
/// burst = 200                 # sends that the limit allows at once, if that is known
/// initial_rate = 50           # sends per second at which the ramp begins
/// ```
///
/// - **Each key is optional**, except that a refill needs both of its keys. A key without a value (`null`) is treated as not
///   set.
/// - **A duration** is a text, as in the macros: a whole number and its unit, `ns`, `us`, `ms`, `s`, `m` or `h`.
/// - **A number** can be a text, too.
/// - **A base above the cap** is treated as the cap, and a `conflict_base` above the `base` as the base, as in the builders.
/// - **An unknown key is an error**, with a suggestion.
///
/// `RetryConfig::from_file_section` reads a section of a file with errors that name the file and
/// the whole key. In a field of your configuration, an error names the key from the field on, and the format may add
/// the number of a line, such as that of the section. The source of such a setting is [`ConfigSource::Code`].
///
/// # The environment
///
/// [`from_environment_prefix`](RetryConfig::from_environment_prefix) reads the same keys from your own variables, such as
/// `STORE_RETRY_MAX_ATTEMPTS` and `STORE_RETRY_BACKOFF_BASE`. With the feature `aws-config`, `or_environment` fills in
/// the mode and the maximum number of attempts from the variables and the shared config file of AWS. Nothing is read
/// unless it is called. [`or`](RetryConfig::or) combines sources.
///
/// A program that keeps its strategy in a `static` checks the settings before anything else:
///
/// ```no_run
/// use retry_config::{ConfigError, RetryConfig};
/// use retry_core::PatientRetryStrategy;
/// use std::sync::LazyLock;
///
/// fn store() -> Result<PatientRetryStrategy, ConfigError> {
///     let config = RetryConfig::from_environment_prefix("STORE_RETRY_")?;
///     config.build_on(PatientRetryStrategy::new().name("store"))
/// }
///
/// // For `#[retryable(strategy = STORE)]`.
/// static STORE: LazyLock<PatientRetryStrategy> =
///     LazyLock::new(|| store().expect("main has checked it"));
///
/// fn main() {
///     if let Err(error) = store() {
///         eprintln!("error: {error}");
///         std::process::exit(2);
///     }
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RetryConfig {
    set: Settings,
    origins: Origins,
    sections: Sections,
}

/// A fixed factor of a jitter is from 0 to 1, never NaN, so it is equal to itself.
impl Eq for RetryConfig {}

impl RetryConfig {
    /// Creates a configuration without settings.
    pub const fn new() -> Self {
        Self { set: Settings::new(), origins: Origins::new(), sections: Sections::new() }
    }

    /// Fills in the settings that are not set yet from another configuration.
    ///
    /// ```
    /// use retry_config::RetryConfig;
    ///
    /// let from_environment = RetryConfig::new().quota_capacity(50);
    /// let from_file = RetryConfig::new().quota_capacity(100).try_max_attempts(4)?;
    /// let config = from_environment.or(from_file);
    /// assert_eq!(config.quota_capacity_setting(), Some(50));
    /// assert_eq!(config.max_attempts_setting(), Some(4));
    /// # Ok::<(), retry_config::ConfigError>(())
    /// ```
    #[must_use]
    pub fn or(self, mut other: Self) -> Self {
        // A setting of code here has no origin, and must not get the origin of the other one.
        for (key, _) in self.set.values() {
            other.origins.forget(key);
        }
        Self {
            set: self.set.or(other.set),
            origins: self.origins.or(other.origins),
            sections: self.sections.or(other.sections),
        }
    }

    /// Returns the settings that are set, as pairs of a key and a value, both as they are written in a file.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use retry_config::RetryConfig;
    ///
    /// let config = RetryConfig::new()
    ///     .backoff(Duration::from_secs(1), Duration::from_secs(20))
    ///     .quota_capacity(50);
    /// let entries: Vec<_> = config.entries().map(|(key, value)| format!("{key} = {value}")).collect();
    /// assert_eq!(entries, ["backoff.base = 1s", "backoff.cap = 20s", "quota.capacity = 50"]);
    /// ```
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, String)> {
        self.set.values().map(|(key, value)| (key, value.into_text()))
    }

    /// Returns the source of the setting with this key, or `None` if it is not set. If code sets a value that was read
    /// to the same value again, the source does not change.
    ///
    /// ```
    /// use retry_config::{ConfigSource, RetryConfig};
    ///
    /// let variables = [("STORE_RETRY_BACKOFF_BASE", "1s")];
    /// let config = RetryConfig::from_prefixed_variables("STORE_RETRY_", variables)?;
    /// let config = config.quota_capacity(50);
    /// let variable = ConfigSource::Variable("STORE_RETRY_BACKOFF_BASE".into());
    /// assert_eq!(config.source_of("backoff.base"), Some(&variable));
    /// assert_eq!(config.source_of("quota.capacity"), Some(&ConfigSource::Code));
    /// assert_eq!(config.source_of("backoff.cap"), None);
    /// # Ok::<(), retry_config::ConfigError>(())
    /// ```
    pub fn source_of(&self, key: &str) -> Option<&ConfigSource> {
        let (key, value) = self.set.values().find(|(set, _)| *set == key)?;
        Some(self.origins.of(key, &value.into_text()).0)
    }

    /// Creates a new strategy. `base` supplies the values that are not set here.
    ///
    /// `base` is often [`StandardRetryStrategy::new()`](retry_core::StandardRetryStrategy::new), whose quota has a fixed size, so that
    /// operations fail once it is empty, or [`PatientRetryStrategy::new()`](retry_core::PatientRetryStrategy::new), whose operations
    /// wait while the service is down. It can be a preset such as [`aws_2_1()`](retry_core::StandardRetryStrategy::aws_2_1), or a
    /// strategy with a name, which is not a setting. Its backoff, its quota and its limiter are kept if code chose them. The
    /// configuration sets these settings
    /// of them:
    ///
    /// - the keys `backoff.*`, if the backoff is an [`ExponentialBackoff`](retry_core::ExponentialBackoff) or a pointer to
    ///   one;
    /// - `quota.capacity` and `quota.refill`, if the quota is a [`TokenBucket`](retry_core::TokenBucket) or a pointer to one.
    ///   A bucket behind a pointer may be shared with other strategies: it is changed while it is in use, but never by a
    ///   preset;
    /// - `quota.kind`, if the quota is a bucket that is not behind a pointer;
    /// - `quota.costs` and `quota.refunds`, except in a quota that decides by evidence and so reports its
    ///   [mode](retry_core::RetryQuota::mode), which has `quota.costs.conflict` only;
    /// - the keys `paced.*`, except in an [`AdaptiveRetryStrategy`](retry_core::AdaptiveRetryStrategy).
    ///
    /// ```
    /// use retry_config::{RetryConfig, RetryMode};
    /// use retry_core::quota::NoQuota;
    /// use retry_core::StandardRetryStrategy;
    /// use retry_limits::PacedRetryStrategy;
    ///
    /// let config = RetryConfig::new().try_max_attempts(4)?;
    /// let base = PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(NoQuota));
    /// let strategy = config.build_on(base)?;
    /// assert_eq!((strategy.mode(), strategy.settings().max_attempts), (RetryMode::Paced, 4));
    ///
    /// let config = config.quota_capacity(100).mode(RetryMode::Adaptive);
    /// let error = config.build_on(PacedRetryStrategy::new()).unwrap_err();
    /// assert_eq!((error.part(), error.key().as_deref()), (Some("limit"), Some("mode")));
    /// let error = config.build_on(StandardRetryStrategy::new().with_quota(NoQuota)).unwrap_err();
    /// assert_eq!((error.part(), error.key().as_deref()), (Some("quota"), Some("quota.capacity")));
    /// # Ok::<(), retry_config::ConfigError>(())
    /// ```
    ///
    /// On a [`PatientRetryStrategy`](retry_core::PatientRetryStrategy) with an exponential backoff, it builds one whose settings do not
    /// change while it runs. Its waits are set in code. It has no other mode than `standard` and `off`, and no settings of a limiter. Its quota
    /// by evidence has one setting, `quota.costs.conflict`.
    /// A preset replaces its numbers, such as its ten attempts, by those of the preset:
    ///
    /// ```
    /// use retry_config::RetryConfig;
    /// use retry_core::PatientRetryStrategy;
    /// use std::sync::OnceLock;
    ///
    /// static STORE: OnceLock<PatientRetryStrategy> = OnceLock::new();
    ///
    /// let config = RetryConfig::new().try_max_attempts(7)?;
    /// let store = config.build_on(PatientRetryStrategy::new().name("store"))?;
    /// assert_eq!(STORE.get_or_init(|| store).standard().settings().max_attempts, 7);
    /// # Ok::<(), retry_config::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a part of `base` has no such setting, if the mode contradicts its limiter, or if a setting would
    /// have no effect: a key `paced.*` without a mode, `paced.max_rate` in the mode `standard` or `adaptive`, or `paced.burst` without
    /// `paced.max_rate`. A mode from the environment or the shared config file of AWS is
    /// not an error, because code has priority.
    pub fn build_on<S: ConfigBase>(&self, base: S) -> Result<ConfiguredOn<S>, ConfigError> {
        base.configured(self)
    }
}

fn in_code(setting: InvalidSetting) -> ConfigError {
    ConfigError::setting_in(ConfigSource::Code, setting)
}
