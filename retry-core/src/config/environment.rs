//! The environment as a source of settings, and where it says that the shared config file is.

use super::{ConfigError, ConfigSource, RetryConfig, Said};
use crate::invalid_setting::InvalidSetting;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// # The environment and the shared config file
///
/// Needs the feature `config`.
///
/// Each setting on its own comes from the first of these that says it:
///
/// | source | mode | maximum of attempts |
/// |---|---|---|
/// | code: the setters, or what was deserialized | [`retry_mode`](RetryConfig::retry_mode) | [`max_attempts`](RetryConfig::max_attempts) |
/// | the environment | `AWS_RETRY_MODE` | `AWS_MAX_ATTEMPTS` |
/// | the profile in the shared config file | `retry_mode` | `max_attempts` |
/// | what it is [built on](RetryConfig::build_on) | standard | its own |
///
/// A [mode](crate::RetryMode) is `standard`, `adaptive` or `legacy`; a maximum of attempts is a whole number from 1 to
/// 4294967295, the first attempt included. Space around them is no mistake, and neither is a plus before the number.
///
/// - **Only what is used is judged.** A bad value is no error where a source above says that setting, and the file is
///   not even opened if nothing is open.
/// - **The profile** is the one that `AWS_PROFILE` names, else `default`. One that is not in the file says nothing: it
///   may have its place in the file of credentials, which is not read here.
/// - **The file** is the one that `AWS_CONFIG_FILE` names, else `.aws/config` in the home directory (`HOME`, on Windows
///   also `USERPROFILE`), for which a leading `~` stands. A file that is not there is no error; one that can't be read,
///   or that is malformed, is.
/// - **An empty variable** is one that is not set, as for the AWS SDK for Go. An empty value in the file is an error.
impl RetryConfig {
    /// Fills in what is still open from the environment of the process and the shared config file.
    ///
    /// It reads a file, and blocks while it does: call it when the program starts.
    ///
    /// A `static` can be made of it, if the program looks at the outcome before it does anything else:
    ///
    /// ```no_run
    /// use retry_core::{ConfigError, ConfiguredStrategy, RetryConfig};
    /// use std::sync::LazyLock;
    ///
    /// static CONFIG: LazyLock<Result<RetryConfig, ConfigError>> =
    ///     LazyLock::new(|| RetryConfig::new().or_environment());
    ///
    /// // For `#[retryable(strategy = STORE)]`.
    /// static STORE: LazyLock<ConfiguredStrategy> =
    ///     LazyLock::new(|| CONFIG.as_ref().unwrap_or(const { &RetryConfig::new() }).build());
    ///
    /// fn main() {
    ///     if let Err(error) = &*CONFIG {
    ///         eprintln!("error: {error}");
    ///         std::process::exit(2);
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    ///
    /// If a value that would be used is not allowed, or the file can't be read or is malformed.
    pub fn or_environment(self) -> Result<Self, ConfigError> {
        self.or_variables(|name| env::var_os(name))
    }

    /// Fills in what is still open, as [`or_environment`](RetryConfig::or_environment) does, from variables that are
    /// looked up by `variable`. The place of the file is among them, and nothing else of the process is read.
    ///
    /// ```
    /// use retry_core::{ConfigError, ConfigSource, RetryConfig, RetryMode};
    ///
    /// let config = RetryConfig::new().max_attempts(4)?.or_variables(|name| match name {
    ///     "AWS_RETRY_MODE" => Some("adaptive".into()),
    ///     "AWS_MAX_ATTEMPTS" => Some("7".into()),
    ///     _ => None,
    /// })?;
    /// assert_eq!(config.retry_mode_setting(), Some(RetryMode::Adaptive));
    /// assert_eq!(config.retry_mode_source(), Some(&ConfigSource::Variable("AWS_RETRY_MODE")));
    /// assert_eq!(config.max_attempts_setting(), Some(4), "code comes first");
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`or_environment`](RetryConfig::or_environment).
    pub fn or_variables(mut self, variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, ConfigError> {
        let variable = |name| variable(name).filter(|value| !value.is_empty());
        // What is not Unicode is none of the allowed values either.
        let text = |name| variable(name).map(|value| value.to_string_lossy().into_owned());

        fill(&mut self.retry_mode, text("AWS_RETRY_MODE"), &ConfigSource::Variable("AWS_RETRY_MODE"))?;
        fill(&mut self.max_attempts, text("AWS_MAX_ATTEMPTS"), &ConfigSource::Variable("AWS_MAX_ATTEMPTS"))?;
        if self.is_complete() {
            return Ok(self);
        }
        let Some(file) = config_file(variable) else { return Ok(self) };
        let profile = variable("AWS_PROFILE").unwrap_or_else(|| "default".into()).into_string().map_err(|name| {
            let setting = InvalidSetting::new("profile", name.to_string_lossy(), "the name of a profile, in Unicode");
            ConfigError::setting_in(ConfigSource::Variable("AWS_PROFILE"), setting)
        })?;
        match fs::read_to_string(&file) {
            Ok(text) => self.or_profile(&profile, &file, &text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(self),
            Err(error) => Err(ConfigError::unreadable(ConfigSource::Profile { name: profile, file }, error)),
        }
    }

    /// Fills in what is still open from a profile in the text of a shared config file, wherever that text came from.
    /// The name of the file is for [sources](ConfigSource) and errors only, it is not opened.
    ///
    /// ```
    /// use retry_core::{ConfigError, RetryConfig};
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
    /// let error = RetryConfig::new().or_profile("default", Path::new("x.conf"), "[default").unwrap_err();
    /// assert!(error.to_string().starts_with(r#"profile "default" in the file "x.conf": the file is malformed: "#));
    /// # Ok::<(), ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If a value that would be used is not allowed, or the text is malformed.
    pub fn or_profile(mut self, profile: &str, file: &Path, text: &str) -> Result<Self, ConfigError> {
        if self.is_complete() {
            return Ok(self);
        }
        let source = ConfigSource::Profile { name: profile.to_owned(), file: file.to_owned() };
        let settings =
            super::profile::read(text, profile).map_err(|what| ConfigError::malformed(source.clone(), what))?;
        fill(&mut self.retry_mode, settings.retry_mode, &source)?;
        fill(&mut self.max_attempts, settings.max_attempts, &source)?;
        Ok(self)
    }

    /// Nothing is open that these sources could say.
    const fn is_complete(&self) -> bool {
        self.retry_mode.is_some() && self.max_attempts.is_some()
    }
}

/// Takes what the source says, if nobody did before.
fn fill<T>(setting: &mut Option<Said<T>>, text: Option<String>, source: &ConfigSource) -> Result<(), ConfigError>
where
    T: FromStr<Err = InvalidSetting>,
{
    if let (None, Some(text)) = (&setting, text) {
        let value = text.parse().map_err(|invalid| ConfigError::setting_in(source.clone(), invalid))?;
        *setting = Some(Said { value, source: source.clone() });
    }
    Ok(())
}

/// Where the shared config file would be; `None` if that depends on a home directory, and there is none.
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
