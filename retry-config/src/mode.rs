//! The retry modes.

use retry_core::InvalidSetting;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

/// The kind of strategy that a [`RetryConfig`](crate::RetryConfig) creates.
///
/// A mode is formatted as `standard`, `adaptive`, `paced` or `off`. Parsing follows AWS's environment and files: it ignores
/// the case and surrounding white space, and accepts `legacy`, which older config files contain, as another name of
/// `standard`. It rejects `paced` and `off`, which only this library's own settings have.
///
/// ```
/// use retry_config::RetryMode;
///
/// assert_eq!(" Legacy ".parse(), Ok(RetryMode::Standard));
/// assert_eq!(RetryMode::Adaptive.to_string(), "adaptive");
///
/// let error = "fast".parse::<RetryMode>().unwrap_err();
/// let expected = r#"invalid retry_mode "fast": expected standard, adaptive or legacy"#;
/// assert_eq!(error.to_string(), expected);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryMode {
    /// A [`StandardRetryStrategy`](retry_core::StandardRetryStrategy).
    #[default]
    Standard,
    /// An [`AdaptiveRetryStrategy`](retry_core::AdaptiveRetryStrategy).
    Adaptive,
    /// A [`PacedRetryStrategy`](retry_limits::PacedRetryStrategy).
    Paced,
    /// Retries are switched off, as by [`set_enabled(false)`](crate::ConfiguredStrategy::set_enabled).
    ///
    /// While the strategy runs, it keeps the limit on sends that it has. A strategy that starts in this mode sends without the limits of the
    /// settings `paced.*`. A limit that code chose is kept in each mode, as in
    /// `config.build_on(PacedRetryStrategy::new().max_rate(50.0).burst(10))`.
    Off,
}

impl RetryMode {
    /// The modes of this library's own settings.
    const ALL: [Self; 4] = [Self::Standard, Self::Adaptive, Self::Paced, Self::Off];

    /// The names of modes in AWS's environment and files.
    const OF_AWS: [(&str, Self); 3] = [
        (Self::Standard.as_str(), Self::Standard),
        (Self::Adaptive.as_str(), Self::Adaptive),
        ("legacy", Self::Standard),
    ];

    /// Returns the name: `standard`, `adaptive`, `paced` or `off`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Adaptive => "adaptive",
            Self::Paced => "paced",
            Self::Off => "off",
        }
    }

    /// Returns the names of this library's own settings, for messages.
    fn names() -> &'static str {
        static NAMES: LazyLock<String> = LazyLock::new(|| listed(RetryMode::ALL.map(RetryMode::as_str)));
        &NAMES
    }

    /// Returns what is expected instead of an invalid name, for messages.
    pub(super) fn expected_for(name: &str) -> &'static str {
        if name.trim().eq_ignore_ascii_case("patient") {
            "standard, adaptive, paced or off; to wait for the service, remove the mode, and write \
             `build_on(PatientRetryStrategy::new())` in code"
        } else {
            Self::names()
        }
    }

    /// Returns the names in AWS's environment and files, for messages.
    fn names_of_aws() -> &'static str {
        static NAMES: LazyLock<String> = LazyLock::new(|| listed(RetryMode::OF_AWS.map(|(name, _)| name)));
        &NAMES
    }

    /// Parses a mode of this library's own settings.
    pub(super) fn named(name: &str) -> Option<Self> {
        let own = Self::ALL.into_iter().find(|mode| name.trim().eq_ignore_ascii_case(mode.as_str()));
        own.or_else(|| name.parse().ok())
    }
}

/// Returns two or more names as a list in a sentence.
fn listed<const N: usize>(names: [&str; N]) -> String {
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("{} or {last}", others.join(", "))
}

impl FromStr for RetryMode {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        let named = Self::OF_AWS.into_iter().find(|(name, _)| text.trim().eq_ignore_ascii_case(name));
        let invalid = || InvalidSetting::new("retry_mode", text, Self::names_of_aws());
        named.map(|(_, mode)| mode).ok_or_else(invalid)
    }
}

impl fmt::Display for RetryMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
