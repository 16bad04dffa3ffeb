//! The environment and the shared config file as sources of settings.

use super::error::Problem;
use super::origins::Origins;
use super::profile::{self, Value};
use super::value::Setting;
use super::{ConfigError, ConfigSource, RetryConfig};
use retry_core::InvalidSetting;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// # The environment and the shared config file
///
/// These methods need the feature `aws-config`.
///
/// Each setting is taken from the first of these sources that has it:
///
/// | source | mode | maximum number of attempts |
/// |---|---|---|
/// | code: the setters, or a deserialized configuration | [`mode`](RetryConfig::mode) | [`try_max_attempts`](RetryConfig::try_max_attempts) |
/// | the environment | `AWS_RETRY_MODE` | `AWS_MAX_ATTEMPTS` |
/// | the profile in the shared config file | `retry_mode` | `max_attempts` |
/// | the default | standard | that of the strategy passed to [`build_on`](RetryConfig::build_on) |
///
/// A [mode](crate::RetryMode) is `standard`, `adaptive` or `legacy`. A maximum number of attempts is a whole
/// number from 1 to 4294967295, the first attempt included. White space around a value and a plus before a number are
/// ignored.
///
/// - **Only values that are used are checked.** An invalid value is not an error if a source with a higher priority has
///   that setting. The file is not opened if both settings are known without it.
/// - **The profile** is named by `AWS_PROFILE`, and is `default` without that variable. A profile that is missing from
///   the file has no settings there. This is not an error, because the profile can be in the credentials file, which is
///   not read.
/// - **The file** is named by `AWS_CONFIG_FILE`. Without that variable it is `.aws/config` in the home directory
///   (`HOME`, on Windows also `USERPROFILE`). A leading `~` stands for the home directory. A missing file is not an
///   error, and neither is a path through something that is not a directory, such as below `/dev/null`. A file that
///   can't be read or is malformed is an error.
/// - **An empty variable** is treated as not set, as in the AWS SDK for Go. An empty value in the file is an error.
///
/// [`or_environment`](RetryConfig::or_environment) describes how the file is read, and lists the differences from
/// botocore.
impl RetryConfig {
    /// Fills in the settings that are not set yet from the environment of the process and the shared config file.
    ///
    /// The call blocks while it reads the file, so call it when the program starts.
    ///
    /// To configure a `static`, check for an error at the start of the program:
    ///
    /// ```no_run
    /// use retry_config::{ConfigError, ConfiguredStrategy, RetryConfig};
    /// use retry_core::StandardRetryStrategy;
    /// use std::sync::LazyLock;
    ///
    /// fn store() -> Result<ConfiguredStrategy, ConfigError> {
    ///     RetryConfig::new().or_environment()?.build_on(StandardRetryStrategy::new().name("store"))
    /// }
    ///
    /// // For `#[retryable(strategy = STORE)]`.
    /// static STORE: LazyLock<ConfiguredStrategy> =
    ///     LazyLock::new(|| store().expect("main has checked it"));
    ///
    /// fn main() {
    ///     if let Err(error) = store() {
    ///         eprintln!("error: {error}");
    ///         std::process::exit(2);
    ///     }
    /// }
    /// ```
    ///
    /// # Differences from botocore
    ///
    /// The file is read as the AWS CLI and boto3 read it, which use botocore and Python's `configparser`:
    ///
    /// - A line that is indented further than the latest key continues the value of that key, even if the line looks
    ///   like a key or a section header. Any other line, unless it is blank or a comment, starts a new key or
    ///   section. So a file can be indented as a whole.
    /// - A value that begins in the line below its key is nested, and each of its lines needs an `=`.
    /// - Keys can be in any case, `:` can replace `=`, and comments begin with `#` or `;`.
    /// - Settings in `[DEFAULT]` apply to each profile that does not set them.
    ///
    /// These differences are intentional:
    ///
    /// | in the file | botocore | here |
    /// |---|---|---|
    /// | comment after a value | part of the value | removed if white space precedes it |
    /// | byte order mark | an error | skipped |
    /// | repeated section | an error; the last one if they are written differently, as `[profile a]` and `[profile 'a']` | merged |
    /// | repeated key | an error | the last one is used |
    /// | `[profile default]` above `[default]` | `[default]` is used | `[profile default]` is used, in any order |
    /// | space in a header | `[ profile a ]` and `[default ]` are not profiles | ignored around the name |
    /// | space in a name without quotes | `[profile a b]` is not a profile | part of the name |
    /// | quotes and backslashes inside a name | removed, as in a shell | part of the name, unless quotes enclose all of it |
    /// | longer word instead of `profile` | `[profiles a]` is the profile `a` | not a profile |
    /// | bracket after a header | the name ends at the last bracket of the line | it ends at the first one |
    /// | nested mistake in `[DEFAULT]` | no error if no section uses the value | an error |
    /// | rare separators | U+001C to U+001F are white space; U+0085, U+2028 and the like end a line of a nested value | white space is that of Unicode; only CR and LF end a line |
    ///
    /// | around the file | botocore | here |
    /// |---|---|---|
    /// | `AWS_DEFAULT_PROFILE` | read, before `AWS_PROFILE` | not read |
    /// | credentials file | settings in it are used | not read |
    /// | profile that is in neither file | an error | no settings |
    /// | `$NAME` and `~user` in `AWS_CONFIG_FILE` | expanded | taken literally |
    /// | file that can't be opened, or is a directory | no settings | an error |
    /// | empty variable | an invalid value | not set |
    /// | `Adaptive` | an invalid mode | the mode `adaptive`, since modes can be in any case |
    /// | `legacy` | its own mode | another name of `standard` |
    /// | `1_0`, digits that are not ASCII | numbers | invalid |
    ///
    /// # Errors
    ///
    /// Returns an error if a value that would be used is invalid, or if the file can't be read or is malformed.
    pub fn or_environment(self) -> Result<Self, ConfigError> {
        self.or_variables(|name| env::var_os(name))
    }

    /// Fills in the settings that are not set yet, as [`or_environment`](RetryConfig::or_environment) does, but looks
    /// up each variable with `variable`.
    ///
    /// The variables include the path of the file, which is read. The environment of the process is not read.
    ///
    /// ```
    /// use retry_config::{ConfigError, ConfigSource, RetryConfig, RetryMode};
    ///
    /// let config = RetryConfig::new().try_max_attempts(4)?.or_variables(|name| match name {
    ///     "AWS_RETRY_MODE" => Some("adaptive".into()),
    ///     "AWS_MAX_ATTEMPTS" => Some("7".into()),
    ///     _ => None,
    /// })?;
    /// assert_eq!(config.mode_setting(), Some(RetryMode::Adaptive));
    /// assert_eq!(config.source_of("mode"), Some(&ConfigSource::Variable("AWS_RETRY_MODE".into())));
    /// assert_eq!(config.max_attempts_setting(), Some(4), "code comes first");
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error in the same cases as [`or_environment`](RetryConfig::or_environment).
    pub fn or_variables(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        // The lossy conversion is fine: a value that is not Unicode is invalid for every setting.
        let text = |name| {
            let value = variable(name)?.to_string_lossy().into_owned();
            Some(Value { text: value, continued_at: None })
        };

        let source = |name: &'static str| ConfigSource::Variable(name.into());
        fill(&mut self.set.mode, &mut self.origins, "mode", text("AWS_RETRY_MODE"), &source("AWS_RETRY_MODE"))?;
        fill(
            &mut self.set.max_attempts,
            &mut self.origins,
            "max_attempts",
            text("AWS_MAX_ATTEMPTS"),
            &source("AWS_MAX_ATTEMPTS"),
        )?;
        if self.is_complete() {
            return Ok(self);
        }
        let Some(file) = config_file(variable) else { return Ok(self) };
        let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".into()).into_string().map_err(|name| {
            let setting = InvalidSetting::new("profile", name.to_string_lossy(), "the name of a profile, in Unicode");
            ConfigError::setting_in(ConfigSource::Variable("AWS_PROFILE".into()), setting)
        })?;
        match fs::read_to_string(&file) {
            Ok(text) => self.or_profile(&profile, &file, &text),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(self),
            Err(error) => {
                Err(ConfigError::new(ConfigSource::Profile { name: profile, file }, Problem::Unreadable(error)))
            }
        }
    }

    /// Fills in the settings that are not set yet from a profile in the text of a shared config file.
    ///
    /// The path `file` is only used in [sources](ConfigSource) and errors; the file is not opened.
    /// [`or_environment`](RetryConfig::or_environment) describes how the text is read.
    ///
    /// ```
    /// use retry_config::{ConfigError, RetryConfig};
    /// use std::path::Path;
    ///
    /// let text = "
    /// [default]
    /// max_attempts = 3
    ///
    /// [profile batch]
    /// retry_mode = adaptive
    /// max_attempts = 10 # it can wait
    /// ";
    /// let config = RetryConfig::new().or_profile("batch", Path::new("batch.conf"), text)?;
    /// assert_eq!(config.max_attempts_setting(), Some(10));
    ///
    /// let config = RetryConfig::new();
    /// let error = config.or_profile("default", Path::new("x.conf"), "[default").unwrap_err();
    /// let expected = r#"profile "default" in the file "x.conf": the file is malformed: "#;
    /// assert!(error.to_string().starts_with(expected));
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if a value that would be used is invalid, or if the text is malformed.
    pub fn or_profile(mut self, profile: &str, file: &Path, text: &str) -> Result<Self, ConfigError> {
        if self.is_complete() {
            return Ok(self);
        }
        let source = ConfigSource::Profile { name: profile.to_owned(), file: file.to_owned() };
        let settings =
            profile::read(text, profile).map_err(|what| ConfigError::new(source.clone(), Problem::Malformed(what)))?;
        fill(&mut self.set.mode, &mut self.origins, "mode", settings.retry_mode, &source)?;
        fill(&mut self.set.max_attempts, &mut self.origins, "max_attempts", settings.max_attempts, &source)?;
        Ok(self)
    }

    /// Returns whether every setting that the environment and the file can have is set.
    const fn is_complete(&self) -> bool {
        self.set.mode.is_some() && self.set.max_attempts.is_some()
    }
}

/// Fills in a setting from a source if it is not set yet.
fn fill<T>(
    setting: &mut Option<T>,
    origins: &mut Origins,
    key: &'static str,
    value: Option<Value>,
    source: &ConfigSource,
) -> Result<(), ConfigError>
where
    T: Setting + FromStr<Err = InvalidSetting>,
{
    if let (None, Some(Value { text, continued_at })) = (&setting, value) {
        let invalid = |invalid| ConfigError::setting_in(source.clone(), invalid).continued_at(continued_at);
        let value: T = text.parse().map_err(invalid)?;
        if let Some(written) = value.write(key) {
            origins.add(key, written.into_text(), source.clone());
        }
        *setting = Some(value);
    }
    Ok(())
}

/// Returns the path of the shared config file, or `None` if it depends on the home directory and none is known.
fn config_file(variable: impl Fn(&'static str) -> Option<OsString>) -> Option<PathBuf> {
    let home = || {
        let home = variable("HOME").or_else(|| variable("USERPROFILE").filter(|_| cfg!(windows)));
        home.map(PathBuf::from)
    };
    let Some(file) = variable("AWS_CONFIG_FILE").map(PathBuf::from) else {
        return home().map(|home| home.join(".aws").join("config"));
    };
    match file.strip_prefix("~") {
        Ok(rest) => home().map(|home| home.join(rest)),
        Err(_) => Some(file),
    }
}
