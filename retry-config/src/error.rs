//! The error of an invalid configuration, and the sources of settings.

use super::RetryMode;
use retry_core::InvalidSetting;
use std::borrow::Cow;
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
/// environment variable AWS_MAX_ATTEMPTS: invalid max_attempts "0": expected a whole number
///     from 1 to 4294967295, since it counts the first attempt too
/// profile "default" in the file "/home/me/.aws/config": the file can't be read: Is a directory
///     (os error 21)
/// profile "default" in the file "/home/me/.aws/config": the file is malformed: line 3 has no `=`
/// file "settings.toml": invalid store.backoff.base "5": expected a whole number and its unit, ns,
///     us, ms, s, m or h, such as 1500ms
/// file "settings.toml": unknown key store.backoff.bas: did you mean store.backoff.base?
/// file "settings.toml": the section store is missing: did you mean stor? The file has cache, stor
/// file "settings.toml": the key max_attempts is outside of the section store, which is missing:
///     write store.max_attempts
/// file "settings.toml": unknown key store.max_time: set it in code, for each function, as in
///     `#[retryable(max_time = "30s")]`
/// file "settings.toml": the key store.quota.capacity "100" can't be set: the quota of the strategy
///     is not a TokenBucket
/// ```
pub struct ConfigError {
    found_in: ConfigSource,
    /// The path of the section that the keys are in, or nothing.
    section: String,
    /// In a box, so that results are small.
    problem: Box<Problem>,
}

/// What is wrong. Keys are relative to a section.
#[derive(Debug)]
#[cfg_attr(
    not(all(feature = "aws-config", feature = "serde")),
    allow(dead_code, reason = "without the features no file is read")
)]
pub(super) enum Problem {
    Setting {
        setting: InvalidSetting,
        /// The number of the first line of the file that continues the value.
        continued_at: Option<usize>,
    },
    Unknown {
        key: String,
        /// The key that was probably meant.
        suggestion: Option<String>,
        /// The keys of the group.
        expected: String,
    },
    /// A key that is the name of something that code sets, or that other libraries have.
    Foreign {
        key: String,
        /// What to write instead.
        advice: String,
    },
    /// A value in the place of a group of keys.
    NoGroup {
        group: &'static str,
        value: String,
        keys: String,
    },
    /// A section that the file does not have. Its names are whole paths.
    NoSection {
        section: String,
        /// The section that was probably meant to have this name.
        similar: Option<String>,
        /// The sections beside it.
        found: String,
    },
    /// A key beside the place of a section that the file does not have. All names are whole paths.
    Outside {
        key: String,
        section: String,
        /// The key in the section.
        meant: String,
        /// The sections that the file has in its place.
        found: String,
    },
    /// The name of a group that is not the key of a scope.
    NoScope(String),
    /// A setting that is given twice.
    Repeated(&'static str),
    /// A key that another key of its group needs.
    Missing(&'static str),
    /// A setting of an external part that the strategy does not have.
    NoPart {
        key: &'static str,
        part: &'static str,
    },
    /// A setting that a part of the strategy does not have.
    Chosen(Chosen),
    /// A setting without another one that it needs to have an effect.
    NoEffect {
        key: &'static str,
        value: String,
        without: Needed,
        /// The variable of the other one, if this one was read from a variable.
        variable: Option<String>,
    },
    /// A known limit on sends in a mode that would send without it.
    NoLimit {
        key: &'static str,
        value: String,
        mode: RetryMode,
        /// The source of the mode.
        mode_from: ConfigSource,
    },
    Unreadable(io::Error),
    Malformed(String),
}

/// A setting that others need to have an effect.
#[derive(Clone, Copy, Debug)]
pub(super) enum Needed {
    Mode,
    MaxRate,
}

impl Needed {
    pub(super) const fn key(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::MaxRate => "paced.max_rate",
        }
    }
}

/// A setting that a configuration can't set, because of a part of the strategy.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) key: &'static str,
    pub(super) value: String,
    /// The part: `backoff`, `quota`, `limit` or `strategy`.
    pub(super) part: &'static str,
    /// What is wrong with the setting.
    pub(super) reason: &'static str,
    /// The values that the configuration may have, if any.
    pub(super) expected: Option<&'static str>,
}

impl From<InvalidSetting> for Problem {
    fn from(setting: InvalidSetting) -> Self {
        Self::Setting { setting, continued_at: None }
    }
}

impl Problem {
    fn write(&self, f: &mut fmt::Formatter<'_>, section: &str) -> fmt::Result {
        let full = |key: &str| join(section, key);
        match self {
            Self::Setting { setting, continued_at } => {
                write!(
                    f,
                    "invalid {} {:?}: expected {}",
                    full(setting.setting()),
                    setting.value(),
                    setting.expected()
                )?;
                match continued_at {
                    Some(line) => {
                        write!(f, "; line {line} continues the value, since it is indented further than the key")
                    }
                    None => Ok(()),
                }
            }
            Self::Unknown { key, suggestion: Some(suggestion), .. } => {
                write!(f, "unknown key {}: did you mean {}?", full(key), full(suggestion))
            }
            Self::Unknown { key, suggestion: None, expected } => {
                write!(f, "unknown key {}: expected one of {expected}", full(key))
            }
            Self::Foreign { key, advice } => write!(f, "unknown key {}: {advice}", full(key)),
            Self::NoGroup { group, value, keys } => {
                let group = full(group);
                let group = if group.is_empty() { "settings" } else { &group };
                write!(f, "invalid {group} {value:?}: expected a group of the keys {keys}")
            }
            Self::NoSection { section, similar, found } => {
                write!(f, "the section {section} is missing: ")?;
                match similar {
                    Some(similar) => write!(f, "did you mean {similar}? The file has {found}"),
                    None if found.is_empty() => write!(f, "expected it, at least empty; the file has none"),
                    None => write!(f, "expected it, at least empty, beside {found}"),
                }
            }
            Self::Outside { key, section, meant, found } => {
                let beside = if found.is_empty() { "" } else { " beside " };
                write!(
                    f,
                    "the key {key} is outside of the section {section}, which is missing{beside}{found}: write {meant}"
                )
            }
            Self::NoScope(name) => write!(f, "invalid scope {name:?}: expected a key of the map"),
            Self::Repeated(key) => write!(f, "the setting {} is given twice: write it once", full(key)),
            Self::Missing(key) => write!(f, "the key {} is missing: write it beside the other one", full(key)),
            Self::NoPart { key, part } => {
                write!(f, "the key {} can't be set: the strategy has no part with the section {part}", full(key))
            }
            Self::Chosen(Chosen { key, value, reason, expected: None, .. }) => {
                write!(f, "the key {} {value:?} can't be set: {reason}", full(key))
            }
            Self::Chosen(Chosen { key, value, reason, expected: Some(expected), .. }) => {
                write!(f, "invalid {} {value:?}: {reason}, so expected {expected}", full(key))
            }
            Self::NoEffect { key, value, without, variable } => {
                write!(f, "the key {} {value:?} has no effect without ", full(key))?;
                let other = full(without.key());
                match (without, variable) {
                    (Needed::Mode, None) => {
                        write!(f, "a mode: write {other} = \"paced\", or the mode that is meant")
                    }
                    (Needed::Mode, Some(variable)) => {
                        write!(f, "a mode: set {variable}=paced, or the mode that is meant")
                    }
                    (Needed::MaxRate, None) => write!(f, "{other}: set it as well, in sends per second"),
                    (Needed::MaxRate, Some(variable)) => {
                        write!(f, "{other}: set {variable} as well, in sends per second")
                    }
                }
            }
            Self::NoLimit { key, value, mode, mode_from } => {
                let key = full(key);
                write!(f, "the key {key} {value:?} has no effect in the mode {mode} of {mode_from}: ")?;
                write!(f, "expected the mode paced or off, or no {key}")
            }
            Self::Unreadable(error) => write!(f, "the file can't be read: {error}"),
            Self::Malformed(what) => write!(f, "the file is malformed: {what}"),
        }
    }
}

/// Formatted without a section.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, "")
    }
}

impl ConfigError {
    pub(super) fn new(found_in: ConfigSource, problem: Problem) -> Self {
        Self { found_in, section: String::new(), problem: problem.into() }
    }

    pub(super) fn setting_in(found_in: ConfigSource, setting: InvalidSetting) -> Self {
        Self::new(found_in, setting.into())
    }

    /// Sets the section that the keys are in.
    pub(super) fn in_section(self, section: &str) -> Self {
        Self { section: section.to_owned(), ..self }
    }

    /// Adds the number of the line that continues the value, if any, to the message.
    #[cfg(feature = "aws-config")]
    pub(super) fn continued_at(mut self, line: Option<usize>) -> Self {
        if let Problem::Setting { continued_at, .. } = &mut *self.problem {
            *continued_at = line;
        }
        self
    }

    /// Returns the source of the invalid setting or file.
    pub const fn found_in(&self) -> &ConfigSource {
        &self.found_in
    }

    /// Returns the path of the key, or `None` if the problem is the file itself.
    ///
    /// It includes the section of the file, if there is one.
    pub fn key(&self) -> Option<String> {
        Some(match &*self.problem {
            Problem::Setting { setting, .. } => join(&self.section, setting.setting()),
            Problem::Unknown { key, .. } | Problem::Foreign { key, .. } => join(&self.section, key),
            Problem::NoGroup { group: key, .. }
            | Problem::Repeated(key)
            | Problem::Missing(key)
            | Problem::NoPart { key, .. }
            | Problem::NoEffect { key, .. }
            | Problem::NoLimit { key, .. } => join(&self.section, key),
            Problem::NoSection { section, .. } => section.clone(),
            Problem::Outside { key, .. } => key.clone(),
            Problem::NoScope(_) => self.section.clone(),
            Problem::Chosen(chosen) => join(&self.section, chosen.key),
            Problem::Unreadable(_) | Problem::Malformed(_) => return None,
        })
    }

    /// Returns the key that was probably meant instead of an unknown or misplaced one, if there is one.
    pub fn suggestion(&self) -> Option<String> {
        match &*self.problem {
            Problem::Unknown { suggestion, .. } => suggestion.as_ref().map(|key| join(&self.section, key)),
            Problem::Outside { meant, .. } => Some(meant.clone()),
            _ => None,
        }
    }

    /// Returns the part of the strategy that does not have the setting: `backoff`, `quota`, `limit` or `strategy`, or the section of an external part that the strategy does not have. It is `None` for other errors.
    pub fn part(&self) -> Option<&'static str> {
        match &*self.problem {
            Problem::Chosen(chosen) => Some(chosen.part),
            Problem::NoPart { part, .. } => Some(part),
            _ => None,
        }
    }

    /// Returns the invalid setting, or `None` if the problem is a key or the file itself.
    pub fn setting(&self) -> Option<&InvalidSetting> {
        match &*self.problem {
            Problem::Setting { setting, .. } => Some(setting),
            _ => None,
        }
    }
}

/// Shows the message, because `expect` and a `main` that returns an error print only this.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ConfigError").field(&format_args!("{self}")).finish()
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.found_in)?;
        self.problem.write(f, &self.section)
    }
}

impl Error for ConfigError {
    /// Returns the [`io::Error`] of a file that can't be read.
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &*self.problem {
            Problem::Unreadable(error) => Some(error),
            _ => None,
        }
    }
}

/// Returns the path of a key in a group.
pub(super) fn join(group: &str, name: &str) -> String {
    if group.is_empty() || name.is_empty() { format!("{group}{name}") } else { format!("{group}.{name}") }
}

/// The source of a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigSource {
    /// The program itself: a setter, or a deserialized configuration.
    Code,
    /// The environment variable with this name.
    Variable(Cow<'static, str>),
    /// The file with this path.
    File(PathBuf),
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
            Self::File(file) => write!(f, "file {:?}", file.to_string_lossy()),
            Self::Profile { name, file } => write!(f, "profile {name:?} in the file {:?}", file.to_string_lossy()),
        }
    }
}
