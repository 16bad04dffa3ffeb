//! An invalid setting.

use std::error::Error;
use std::fmt;

/// A setting that came in at run time is invalid.
///
/// As text it names the setting, its value and what was expected: `invalid max_scopes "0": expected a whole number of at
/// least 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidSetting {
    setting: &'static str,
    value: String,
    expected: &'static str,
}

impl InvalidSetting {
    pub(crate) fn new(setting: &'static str, value: impl fmt::Display, expected: &'static str) -> Self {
        Self { setting, value: value.to_string(), expected }
    }

    /// The name of the setting.
    pub const fn setting(&self) -> &'static str {
        self.setting
    }

    /// The invalid value.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What was expected, as a noun phrase.
    pub const fn expected(&self) -> &'static str {
        self.expected
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In quotes and escaped, since a value from outside can be empty or hold a line break.
        write!(f, "invalid {} {:?}: expected {}", self.setting, self.value, self.expected)
    }
}

impl Error for InvalidSetting {}
