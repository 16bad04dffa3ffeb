//! The error of an invalid configuration, and the sources of settings.

use crate::support::InvalidSetting;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

/// The error of an invalid configuration: an invalid value, or a file that can't be read or is malformed.
///
/// The text of the error is one line. It names the source, and either the setting, its value and what was expected, or
/// the problem with the file:
///
/// ```text
/// environment variable AWS_MAX_ATTEMPTS: invalid max_attempts "0": expected a whole number from 1 to 4294967295, since it counts the first attempt too
/// profile "default" in the file "/home/me/.aws/config": the file can't be read: Is a directory (os error 21)
/// profile "default" in the file "/home/me/.aws/config": the file is malformed: line 3 has no `=`
/// ```
#[derive(Debug)]
pub struct ConfigError {
    found_in: ConfigSource,
    problem: Problem,
}

#[derive(Debug)]
#[cfg_attr(not(feature = "aws-config"), expect(dead_code, reason = "without the feature no file is read"))]
enum Problem {
    Setting {
        setting: InvalidSetting,
        /// The number of the first line of the file that continues the value.
        continued_at: Option<usize>,
    },
    Unreadable(io::Error),
    Malformed(String),
}

impl ConfigError {
    pub(super) const fn setting_in(found_in: ConfigSource, setting: InvalidSetting) -> Self {
        Self { found_in, problem: Problem::Setting { setting, continued_at: None } }
    }

    /// Adds the number of the line that continues the value, if any, to the message.
    #[cfg(feature = "aws-config")]
    pub(super) fn continued_at(mut self, line: Option<usize>) -> Self {
        if let Problem::Setting { continued_at, .. } = &mut self.problem {
            *continued_at = line;
        }
        self
    }

    #[cfg(feature = "aws-config")]
    pub(super) const fn unreadable(found_in: ConfigSource, error: io::Error) -> Self {
        Self { found_in, problem: Problem::Unreadable(error) }
    }

    #[cfg(feature = "aws-config")]
    pub(super) const fn malformed(found_in: ConfigSource, what: String) -> Self {
        Self { found_in, problem: Problem::Malformed(what) }
    }

    /// Returns the source of the invalid setting or file.
    pub const fn found_in(&self) -> &ConfigSource {
        &self.found_in
    }

    /// Returns the invalid setting, or `None` if the problem is the file itself.
    pub const fn setting(&self) -> Option<&InvalidSetting> {
        match &self.problem {
            Problem::Setting { setting, .. } => Some(setting),
            _ => None,
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.found_in)?;
        match &self.problem {
            Problem::Setting { setting, continued_at: None } => setting.fmt(f),
            Problem::Setting { setting, continued_at: Some(line) } => {
                write!(f, "{setting}; line {line} continues the value, since it is indented further than the key")
            }
            Problem::Unreadable(error) => write!(f, "the file can't be read: {error}"),
            Problem::Malformed(what) => write!(f, "the file is malformed: {what}"),
        }
    }
}

impl Error for ConfigError {
    /// Returns the [`io::Error`] of a file that can't be read.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.problem {
            Problem::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// The source of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigSource {
    /// The program itself: a setter, or a deserialized configuration.
    Code,
    /// The environment variable with this name.
    Variable(&'static str),
    /// A profile of a shared config file.
    #[non_exhaustive]
    Profile {
        /// The name of the profile.
        name: String,
        /// The path of the file.
        file: PathBuf,
    },
}

impl fmt::Display for ConfigSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code => f.write_str("code"),
            Self::Variable(name) => write!(f, "environment variable {name}"),
            Self::Profile { name, file } => write!(f, "profile {name:?} in the file {:?}", file.to_string_lossy()),
        }
    }
}
