//! A setting from outside that can't be.

use std::error::Error;
use std::fmt;

/// A setting that came in at run time has a value that it can't have.
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

    /// The name of the setting.
    pub const fn setting(&self) -> &'static str {
        self.setting
    }

    /// The value that it can't have.
    pub fn value(&self) -> &str {
        &self.value
    }

    /// What it can be.
    pub const fn allowed(&self) -> &'static str {
        self.allowed
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In quotes and escaped, since a value from outside can be empty or hold a line break.
        write!(f, "{} = {:?} is not allowed: {}", self.setting, self.value, self.allowed)
    }
}

impl Error for InvalidSetting {}
