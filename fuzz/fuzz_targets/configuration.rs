//! The configuration: exactly the values of the grammar are accepted, and no file causes a panic.
//!
//! An input is a retry mode, a number of attempts, the name of a profile, and the text of a file, separated by the byte
//! 1. All parts but the first may be missing.
#![no_main]

use libfuzzer_sys::fuzz_target;
use retry_config::{ConfigError, RetryConfig, RetryMode};
use retry_core::InvalidSetting;
use std::path::Path;

fuzz_target!(|input: &str| {
    let mut parts = input.splitn(4, '\u{1}');
    let mut next = || parts.next().unwrap_or_default();
    let (mode, attempts, profile, text) = (next(), next(), next(), next());
    let expected = Expected::of(mode, attempts);

    // An empty variable counts as not set.
    let variables = RetryConfig::new().or_variables(|name| match name {
        "AWS_RETRY_MODE" => Some(mode.into()),
        "AWS_MAX_ATTEMPTS" => Some(attempts.into()),
        _ => None,
    });
    expected.or_empty(mode, attempts).check(&variables);

    // The same values in a file, if they have no characters with a meaning in the file format.
    if [mode, attempts, profile].iter().all(|text| is_plain(text)) {
        for header in [format!("[profile {profile}]"), format!("[ profile\t{profile} ] # comment")] {
            let file = format!(
                "# settings\n[default]\nmax_attempts = none\n{header}\nregion = here\ns3 =\n  max_attempts = 0\n\
                 RETRY_MODE = {mode} ; comment\nmax_attempts={attempts}\n[profile {profile}-2]\nretry_mode = no\n"
            );
            expected.check(&from(&file, profile));
            let indented = file.lines().fold(String::new(), |text, line| text + "\t " + line + "\n");
            expected.check(&from(&indented, profile));
        }
    }

    // Any text is either read or refused, with the same result each time.
    let (once, again) = (from(text, profile), from(text, profile));
    assert_eq!(once.is_ok(), again.is_ok());
    assert_eq!(once.as_ref().err().map(ToString::to_string), again.as_ref().err().map(ToString::to_string));
    if let (Ok(once), Ok(again)) = (once, again) {
        assert_eq!(once, again);
        assert!(once.max_attempts_setting().is_none_or(|attempts| text.contains(&attempts.to_string())));
    }
});

fn from(text: &str, profile: &str) -> Result<RetryConfig, ConfigError> {
    RetryConfig::new().or_profile(profile, Path::new("config"), text)
}

/// The expected meaning of the texts.
#[derive(Clone, Copy)]
struct Expected {
    mode: Result<Option<RetryMode>, NotAllowed>,
    attempts: Result<Option<u32>, NotAllowed>,
}

#[derive(Clone, Copy)]
struct NotAllowed;

impl Expected {
    fn of(mode: &str, attempts: &str) -> Self {
        let mode = mode.trim();
        let is = |name: &str| mode.eq_ignore_ascii_case(name);
        let mode = if is("standard") || is("legacy") {
            Ok(Some(RetryMode::Standard))
        } else if is("adaptive") {
            Ok(Some(RetryMode::Adaptive))
        } else {
            Err(NotAllowed)
        };
        Self { mode, attempts: number(attempts).map(Some).ok_or(NotAllowed) }
    }

    /// The same, but an empty text counts as not set.
    fn or_empty(self, mode: &str, attempts: &str) -> Self {
        Self {
            mode: if mode.is_empty() { Ok(None) } else { self.mode },
            attempts: if attempts.is_empty() { Ok(None) } else { self.attempts },
        }
    }

    fn check(self, config: &Result<RetryConfig, ConfigError>) {
        match (config, self) {
            (Ok(config), Self { mode: Ok(mode), attempts: Ok(attempts) }) => {
                assert_eq!((config.mode_setting(), config.max_attempts_setting()), (mode, attempts));
            }
            (Err(error), Self { mode, attempts }) if mode.is_err() || attempts.is_err() => {
                let setting = error.setting().map(InvalidSetting::setting);
                assert_eq!(setting, Some(if mode.is_err() { "retry_mode" } else { "max_attempts" }));
            }
            (config, _) => panic!("{config:?}"),
        }
    }
}

/// Parses digits with an optional plus sign as a number from 1 to `u32::MAX`.
fn number(text: &str) -> Option<u32> {
    let text = text.trim();
    let digits = text.strip_prefix('+').unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let number =
        digits.bytes().fold(0_u64, |number, digit| number.saturating_mul(10).saturating_add((digit - b'0').into()));
    u32::try_from(number).ok().filter(|number| *number > 0)
}

/// Returns true if the text has no special meaning in a file.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-._".contains(&byte))
}
