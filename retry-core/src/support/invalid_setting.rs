//! The error of an invalid setting.

use std::error::Error;
use std::fmt;

/// The error of a setting whose value, given at run time, is invalid.
///
/// ```
/// use retry_core::StandardRetryStrategy;
///
/// let error = StandardRetryStrategy::new().try_max_attempts(0).unwrap_err();
/// assert_eq!((error.setting(), error.value()), ("max_attempts", "0"));
/// assert!(error.to_string().starts_with("invalid max_attempts \"0\": expected "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSetting {
    setting: &'static str,
    value: String,
    expected: &'static str,
}

impl InvalidSetting {
    /// Creates the error of your own setting. `expected` is a noun phrase, such as `a whole number of at least 1`.
    pub fn new(setting: &'static str, value: impl fmt::Display, expected: &'static str) -> Self {
        Self { setting, value: value.to_string(), expected }
    }

    /// Creates the error of a `max_attempts` of 0.
    pub(crate) fn of_no_attempts() -> Self {
        Self::new("max_attempts", 0, "a whole number from 1 to 4294967295, since it counts the first attempt too")
    }

    /// Returns the name of the setting.
    pub const fn setting(&self) -> &'static str {
        self.setting
    }

    /// Returns the invalid value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns what was expected, as a noun phrase.
    pub const fn expected(&self) -> &'static str {
        self.expected
    }
}

/// Asserts that a `max_attempts` is not 0.
#[track_caller]
pub(crate) const fn assert_attempts(attempts: u32) {
    assert!(attempts >= 1, "invalid max_attempts: expected at least 1, since it counts the first attempt too");
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The value is quoted and escaped because it can be empty or contain line breaks.
        write!(f, "invalid {} {:?}: expected {}", self.setting, self.value, self.expected)
    }
}

impl Error for InvalidSetting {}
