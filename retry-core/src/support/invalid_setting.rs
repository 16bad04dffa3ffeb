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
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSetting {
    setting: &'static str,
    value: String,
    allowed: &'static str,
}

impl InvalidSetting {
    pub(crate) fn new(setting: &'static str, value: impl fmt::Display, allowed: &'static str) -> Self {
        Self { setting, value: value.to_string(), allowed }
    }

    /// Returns the name of the setting.
    pub const fn setting(&self) -> &'static str {
        self.setting
    }

    /// Returns the invalid value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// Returns a description of the allowed values.
    pub const fn allowed(&self) -> &'static str {
        self.allowed
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The value is quoted and escaped because it can be empty or contain line breaks.
        write!(f, "{} = {:?} is not allowed: {}", self.setting, self.value, self.allowed)
    }
}

impl Error for InvalidSetting {}
