//! Environment variables with a prefix that the program chooses.

use super::error::Problem;
use super::foreign::Instead;
use super::keys::{KEYS, Unfit};
use super::reader::Reader;
use super::{ConfigError, ConfigSource, RetryConfig, suggest};
use std::env;
use std::ffi::OsString;

impl RetryConfig {
    /// Reads the settings from the environment variables of the process whose names begin with `prefix`.
    ///
    /// The name of a variable is the prefix and the key, in upper case and with `_` instead of `.`: with the prefix
    /// `STORE_RETRY_`, the key `backoff.base` is `STORE_RETRY_BACKOFF_BASE`. Values are as in a
    /// [file](RetryConfig#your-own-configuration-file). An empty variable is treated as not set.
    ///
    /// # Errors
    ///
    /// Returns an error if a value is invalid, or if the rest of a name is not a key.
    pub fn from_environment_prefix(prefix: &str) -> Result<Self, ConfigError> {
        Self::from_prefixed_variables(prefix, env::vars_os())
    }

    /// Reads the settings from these variables, as
    /// [`from_environment_prefix`](RetryConfig::from_environment_prefix) does.
    ///
    /// ```
    /// use retry_config::{ConfigError, RetryConfig};
    ///
    /// let read = |name: &str, value: &str| {
    ///     RetryConfig::from_prefixed_variables("STORE_RETRY_", [(name, value)])
    /// };
    /// assert_eq!(read("STORE_RETRY_MAX_ATTEMPTS", "4")?.max_attempts_setting(), Some(4));
    /// assert_eq!(read("HOME", "/home/me")?, RetryConfig::new());
    ///
    /// let error = read("STORE_RETRY_MAX_ATEMPTS", "4").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "environment variable STORE_RETRY_MAX_ATEMPTS: unknown key STORE_RETRY_MAX_ATEMPTS: \
    ///      did you mean STORE_RETRY_MAX_ATTEMPTS?"
    /// );
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as
    /// [`from_environment_prefix`](RetryConfig::from_environment_prefix).
    pub fn from_prefixed_variables<N, V>(
        prefix: &str,
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Result<Self, ConfigError>
    where
        N: Into<OsString>,
        V: Into<OsString>,
    {
        let mut reader = Reader::default();
        for (name, value) in variables {
            // A name that is not Unicode is skipped: no key has such a name.
            let Ok(name) = name.into().into_string() else { continue };
            let value = value.into();
            let Some(rest) = name.strip_prefix(prefix).filter(|_| !value.is_empty()) else { continue };
            let source = ConfigSource::Variable(name.clone().into());
            let read = match KEYS.iter().find(|key| variable(key.path) == rest) {
                // The lossy conversion is fine: a value that is not Unicode is invalid for every setting.
                Some(key) => reader.read(key, &value.to_string_lossy(), &source),
                None => Err(unknown(prefix, rest)),
            };
            read.map_err(|problem| ConfigError::new(source, problem))?;
        }
        reader.finish().map_err(|Unfit { key, problem }| {
            let name = format!("{prefix}{}", variable(key));
            ConfigError::new(ConfigSource::Variable(name.into()), problem)
        })
    }
}

/// Returns the name of a key's variable without the prefix.
pub(super) fn variable(key: &str) -> String {
    key.to_ascii_uppercase().replace('.', "_")
}

fn unknown(prefix: &str, rest: &str) -> Problem {
    let unknown = format!("{prefix}{rest}");
    if let Some(instead) = Instead::of(&rest.to_ascii_lowercase()) {
        let write = |path: &str, value: Option<&str>| {
            let value = value.map(|value| format!("={value}")).unwrap_or_default();
            format!("{prefix}{}{value}", variable(path))
        };
        return Problem::Foreign { advice: instead.advice(write), key: unknown };
    }
    let names: Vec<_> = KEYS.iter().map(|key| variable(key.path)).collect();
    let similar = || suggest::most_similar(rest, names.iter().map(String::as_str), suggest::limit(rest));
    // The end of a name alone, such as `BASE`.
    let ends = |name: &&String| name.strip_suffix(rest).is_some_and(|group| group.ends_with('_'));
    let suggestion = names.iter().find(ends).map(String::as_str).or_else(similar);
    // The beginning of several names, such as `BACKOFF`.
    let begins = |name: &&String| name.strip_prefix(rest).is_some_and(|key| key.starts_with('_'));
    let in_group: Vec<_> = names.iter().filter(begins).map(String::as_str).collect();
    let (suggestion, expected) =
        if in_group.is_empty() { (suggestion, names.join(", ")) } else { (None, in_group.join(", ")) };
    Problem::Unknown {
        key: unknown,
        suggestion: suggestion.map(|name| format!("{prefix}{name}")),
        expected: format!("{expected} after {prefix}"),
    }
}
