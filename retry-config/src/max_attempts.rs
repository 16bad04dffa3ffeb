//! The maximum number of attempts as a setting.

use retry_core::InvalidSetting;
use retry_core::strategy::StandardRetrySettings;
use std::str::FromStr;

/// A valid maximum number of attempts: at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MaxAttempts(u32);

impl MaxAttempts {
    pub(super) fn new(max_attempts: u32) -> Result<Self, InvalidSetting> {
        StandardRetrySettings::new().try_max_attempts(max_attempts).map(|settings| Self(settings.max_attempts))
    }

    pub(super) const fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for MaxAttempts {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        // Text that is not a number is as invalid as 0.
        Self::new(text.trim().parse().unwrap_or(0))
            .map_err(|error| InvalidSetting::new(error.setting(), text, error.expected()))
    }
}
