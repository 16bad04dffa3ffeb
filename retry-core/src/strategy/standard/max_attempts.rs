//! The maximum number of attempts as a value that is known only at run time.

use crate::support::InvalidSetting;
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

/// A valid maximum number of attempts: at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MaxAttempts(NonZeroU32);

impl MaxAttempts {
    pub(crate) fn new(max_attempts: u32) -> Result<Self, InvalidSetting> {
        NonZeroU32::new(max_attempts).map(Self).ok_or_else(|| Self::invalid(max_attempts))
    }

    pub(crate) const fn get(self) -> u32 {
        self.0.get()
    }

    fn invalid(value: impl fmt::Display) -> InvalidSetting {
        let expected = "a whole number from 1 to 4294967295, since it counts the first attempt too";
        InvalidSetting::new("max_attempts", value, expected)
    }
}

impl FromStr for MaxAttempts {
    type Err = InvalidSetting;

    fn from_str(text: &str) -> Result<Self, InvalidSetting> {
        text.trim().parse().map(Self).map_err(|_| Self::invalid(text))
    }
}
