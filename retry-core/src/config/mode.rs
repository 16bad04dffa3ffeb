//! The retry modes.

use crate::support::InvalidSetting;
use std::fmt;
use std::str::FromStr;

/// The kind of strategy that a [`RetryConfig`](crate::RetryConfig) creates.
///
/// A mode is formatted as `standard`, `adaptive`, `paced` or `off`. Parsing is that of AWS's environment and files: it ignores the
/// case and surrounding white space, and accepts `legacy`, which older config files contain, as another name of
/// `standard`. It refuses `paced` and `off`, which are words of this library's own settings.
///
/// ```
/// use retry_core::config::RetryMode;
///
/// assert_eq!(" Legacy ".parse(), Ok(RetryMode::Standard));
/// assert_eq!(RetryMode::Adaptive.to_string(), "adaptive");
///
/// let error = "fast".parse::<RetryMode>().unwrap_err();
/// assert_eq!(error.to_string(), r#"invalid retry_mode "fast": expected standard, adaptive or legacy"#);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryMode {
    /// A [`StandardRetryStrategy`](crate::StandardRetryStrategy).
    #[default]
    Standard,
    /// An [`AdaptiveRetryStrategy`](crate::AdaptiveRetryStrategy).
    Adaptive,
    /// A [`PacedRetryStrategy`](crate::PacedRetryStrategy).
    Paced,
    /// Retries are switched off, as by [`set_enabled(false)`](crate::config::ConfiguredStrategy::set_enabled).
    Off,
}

impl RetryMode {
    /// Returns the name: `standard`, `adaptive`, `paced` or `off`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Adaptive => "adaptive",
            Self::Paced => "paced",
            Self::Off => "off",
        }
    }

    /// The names of this library's own settings.
    pub(super) const NAMES: &str = "standard, adaptive, paced or off";

    /// Parses a mode of this library's own settings.
    pub(super) fn named(name: &str) -> Option<Self> {
        let own = [Self::Paced, Self::Off].into_iter().find(|mode| name.trim().eq_ignore_ascii_case(mode.as_str()));
        own.or_else(|| name.parse().ok())
    }
}

impl FromStr for RetryMode {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        match text.trim().to_ascii_lowercase().as_str() {
            "standard" | "legacy" => Ok(Self::Standard),
            "adaptive" => Ok(Self::Adaptive),
            _ => Err(InvalidSetting::new("retry_mode", text, "standard, adaptive or legacy")),
        }
    }
}

impl fmt::Display for RetryMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
