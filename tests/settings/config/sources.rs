//! The sources of settings, their order, and invalid values.

use super::{Files, variables};
use proptest::prelude::*;
use retry_config::{ConfigError, ConfigSource, RetryConfig, RetryMode};
use retry_core::StandardRetryStrategy;
use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

const ATTEMPTS: &str = "a whole number from 1 to 4294967295, since it counts the first attempt too";

fn by_profile(text: &str) -> Result<RetryConfig, ConfigError> {
    RetryConfig::new().or_profile("default", Path::new("/etc/aws"), text)
}

// Rule C4.
#[test]
fn a_mode_is_one_of_three_words_in_any_case_with_optional_spaces() {
    for text in ["standard", "STANDARD", " Standard\t", "legacy", "Legacy\n"] {
        assert_eq!(text.parse(), Ok(RetryMode::Standard), "{text:?}");
    }
    for text in ["adaptive", "ADAPTIVE", "  aDaPtIvE "] {
        assert_eq!(text.parse(), Ok(RetryMode::Adaptive), "{text:?}");
    }
    for text in ["", " ", "fast", "standard2", "standard,adaptive", "stand ard", "\"standard\"", "ſtandard"] {
        let error = text.parse::<RetryMode>().unwrap_err();
        assert_eq!((error.setting(), error.value()), ("retry_mode", text));
        assert_eq!(error.expected(), "standard, adaptive or legacy");
    }
    for mode in [RetryMode::Standard, RetryMode::Adaptive] {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert_eq!(
        (RetryMode::default(), format!("{:>10}", RetryMode::Adaptive)),
        (RetryMode::Standard, "  adaptive".into())
    );
}

// Rule C3.
#[test]
fn each_setting_comes_from_the_first_source_that_sets_it() {
    let files = Files::new();
    let by_profile = format!(r#"profile "default" in the file {:?}"#, files.path().join("config"));
    // Each of the three sources sets the mode, the attempts, both or none.
    for choice in 0..64_u8 {
        let [code, environment, profile] = [0, 2, 4].map(|bit| (choice & (1 << bit) > 0, choice & (2 << bit) > 0));
        let mut text = "[default]\n".to_owned();
        text += if profile.0 { "retry_mode = adaptive\n" } else { "" };
        text += if profile.1 { "max_attempts = 12\n" } else { "" };
        let file = files.write("config", text);
        let mut set = vec![("AWS_CONFIG_FILE", file.to_str().unwrap())];
        set.extend(environment.0.then_some(("AWS_RETRY_MODE", "standard")));
        set.extend(environment.1.then_some(("AWS_MAX_ATTEMPTS", "11")));
        let mut config = RetryConfig::new();
        config = if code.0 { config.mode(RetryMode::Adaptive) } else { config };
        config = if code.1 { config.try_max_attempts(10).unwrap() } else { config };
        let config = config.or_variables(variables(&set)).unwrap();

        let (mode, mode_source) = match (code.0, environment.0, profile.0) {
            (true, _, _) => (Some(RetryMode::Adaptive), "code"),
            (_, true, _) => (Some(RetryMode::Standard), "environment variable AWS_RETRY_MODE"),
            (_, _, true) => (Some(RetryMode::Adaptive), &*by_profile),
            _ => (None, "none"),
        };
        let (attempts, attempts_source) = match (code.1, environment.1, profile.1) {
            (true, _, _) => (Some(10), "code"),
            (_, true, _) => (Some(11), "environment variable AWS_MAX_ATTEMPTS"),
            (_, _, true) => (Some(12), &*by_profile),
            _ => (None, "none"),
        };
        let name = |source: Option<&ConfigSource>| source.map_or("none".to_owned(), ToString::to_string);
        assert_eq!((config.mode_setting(), config.max_attempts_setting()), (mode, attempts));
        assert_eq!(name(config.source_of("mode")), mode_source);
        assert_eq!(name(config.source_of("max_attempts")), attempts_source);

        let built = config.build_on(StandardRetryStrategy::new()).unwrap();
        assert_eq!(built.mode(), mode.unwrap_or(RetryMode::Standard));
        assert_eq!(built.settings().max_attempts, attempts.unwrap_or(5));
    }
}

// Rule C6.
#[test]
fn the_error_of_an_invalid_value_names_its_source_key_value_and_the_allowed_values() {
    for value in
        ["0", "-1", "3abc", "1e9999", "4294967296", "1.5", "3 4", "0x3", "three", "1_0", " ", "٣", "3\n4", "\u{feff}3"]
    {
        let error = RetryConfig::new().or_variables(variables(&[("AWS_MAX_ATTEMPTS", value)])).unwrap_err();
        assert_eq!(error.found_in(), &ConfigSource::Variable("AWS_MAX_ATTEMPTS".into()));
        let setting = error.setting().unwrap();
        assert_eq!((setting.setting(), setting.value(), setting.expected()), ("max_attempts", value, ATTEMPTS));
        let line =
            format!("environment variable AWS_MAX_ATTEMPTS: invalid max_attempts {value:?}: expected {ATTEMPTS}");
        assert_eq!(error.to_string(), line);
        assert!(!line.contains('\n'));
        // `expect` and `main` show this one.
        assert_eq!(format!("{error:?}"), format!("ConfigError({line})"));
        assert!(error.source().is_none());
    }
    for value in ["0", "-1", "3abc", "1e9999", "", "4294967296", "\"3\"", "'3'", "\\3"] {
        let error = by_profile(&format!("[default]\nmax_attempts = {value}")).unwrap_err();
        assert!(matches!(error.found_in(), ConfigSource::Profile { name, .. } if name == "default"));
        assert_eq!(
            error.to_string(),
            format!(
                "profile \"default\" in the file \"/etc/aws\": invalid max_attempts {value:?}: expected {ATTEMPTS}"
            )
        );
    }
    // Blank lines at the end of a value are not a part of it.
    let error = by_profile("[default]\nmax_attempts = many\n\n\n[other]").unwrap_err();
    assert!(error.to_string().contains(r#"invalid max_attempts "many": "#), "{error}");
    let error = RetryConfig::new().try_max_attempts(0).unwrap_err();
    assert_eq!(error.found_in(), &ConfigSource::Code);
    assert_eq!(error.to_string(), format!("code: invalid max_attempts \"0\": expected {ATTEMPTS}"));

    let error = RetryConfig::new().or_variables(variables(&[("AWS_RETRY_MODE", "fast")])).unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"environment variable AWS_RETRY_MODE: invalid retry_mode "fast": expected standard, adaptive or legacy"#
    );
    let error = by_profile("[default]\nretry_mode =").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"profile "default" in the file "/etc/aws": invalid retry_mode "": expected standard, adaptive or legacy"#
    );
}

// Rule C7.
#[test]
fn an_invalid_value_is_no_error_if_an_earlier_source_overrides_it() {
    let bad = &[("AWS_RETRY_MODE", "fast"), ("AWS_MAX_ATTEMPTS", "0")];
    let code = RetryConfig::new().mode(RetryMode::Adaptive).try_max_attempts(2).unwrap();
    assert_eq!(code.clone().or_variables(variables(bad)).unwrap(), code);
    let text = "[default]\nretry_mode = fast\nmax_attempts = 0";
    assert_eq!(code.clone().or_profile("default", Path::new("x"), text).unwrap(), code);
    assert_eq!(code.clone().or_profile("default", Path::new("x"), "malformed").unwrap(), code);

    // A setting that is not overridden is still checked.
    let half = RetryConfig::new().mode(RetryMode::Adaptive);
    let error = half.clone().or_variables(variables(bad)).unwrap_err();
    assert_eq!(error.setting().unwrap().setting(), "max_attempts");
    assert!(half.or_profile("default", Path::new("x"), "malformed").is_err());

    let files = Files::new();
    let directory = files.path().to_str().unwrap();
    let both = &[("AWS_RETRY_MODE", "legacy"), ("AWS_MAX_ATTEMPTS", "3"), ("AWS_CONFIG_FILE", directory)];
    assert!(RetryConfig::new().or_variables(variables(both)).is_ok(), "the file is not opened");
    assert!(RetryConfig::new().or_variables(variables(&both[1..])).is_err());
}

// Rule C8.
#[test]
fn an_empty_variable_counts_as_not_set() {
    let files = Files::new();
    files.write(".aws/config", "[default]\nretry_mode = adaptive\nmax_attempts = 9");
    let home = files.path().to_str().unwrap();
    let empty = ["AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS", "AWS_PROFILE", "AWS_CONFIG_FILE"].map(|name| (name, ""));
    let set: Vec<_> = empty.into_iter().chain([("HOME", home)]).collect();
    let config = RetryConfig::new().or_variables(variables(&set)).unwrap();
    assert_eq!((config.mode_setting(), config.max_attempts_setting()), (Some(RetryMode::Adaptive), Some(9)));

    let nothing = RetryConfig::new().or_variables(variables(&[("HOME", "")])).unwrap();
    assert_eq!(nothing, RetryConfig::new());
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_unicode_is_a_typed_error() {
    use std::os::unix::ffi::OsStringExt;
    let odd = || OsString::from_vec(b"3\xff".to_vec());
    for (variable, setting, allowed) in [
        ("AWS_MAX_ATTEMPTS", "max_attempts", ATTEMPTS),
        ("AWS_RETRY_MODE", "retry_mode", "standard, adaptive or legacy"),
        ("AWS_PROFILE", "profile", "the name of a profile, in Unicode"),
    ] {
        let lookup = |name: &str| match name {
            "HOME" => Some("/nowhere".into()),
            name => (name == variable).then(odd),
        };
        let error = RetryConfig::new().or_variables(lookup).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("environment variable {variable}: invalid {setting} \"3\u{fffd}\": expected {allowed}")
        );
    }
    let config = RetryConfig::new().or_variables(|name| (name == "AWS_CONFIG_FILE").then(odd));
    assert!(config.is_ok(), "a path need not be Unicode, and a missing file is not an error");
}

#[test]
fn the_source_is_ignored_in_comparisons() {
    let by_variable = RetryConfig::new().or_variables(variables(&[("AWS_MAX_ATTEMPTS", "3")])).unwrap();
    assert_eq!(by_variable, RetryConfig::new().try_max_attempts(3).unwrap());
    assert_ne!(by_variable, RetryConfig::new().try_max_attempts(4).unwrap());
    assert_ne!(by_variable, RetryConfig::new());
}

/// Reads a maximum of attempts from an environment variable.
fn max_attempts(text: &str) -> Option<u32> {
    let config = RetryConfig::new().or_variables(variables(&[("AWS_MAX_ATTEMPTS", text)])).ok()?;
    config.max_attempts_setting()
}

proptest! {
    // Rule C5.
    #[test]
    fn max_attempts_is_digits_with_an_optional_plus_and_optional_spaces(
        text in r"[ \t\n]{0,2}[+\-]?[0-9]{1,12}[a-z.]?[ \t]{0,2}"
    ) {
        let number = text.trim_matches([' ', '\t', '\n']);
        let digits = number.strip_prefix('+').unwrap_or(number);
        let expected = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().unwrap());
        let expected = expected.filter(|number| (1..=u64::from(u32::MAX)).contains(number));
        prop_assert_eq!(max_attempts(&text).map(u64::from), expected);
    }

    #[test]
    fn every_valid_max_attempts_can_be_read_back(number in 1..=u32::MAX, zeros in 0..12_usize) {
        prop_assert_eq!(max_attempts(&format!("{}{number}", "0".repeat(zeros))), Some(number));
    }

    // Rule C14.
    #[test]
    fn no_text_causes_a_panic(texts in prop::array::uniform4(any::<String>())) {
        let set = [("AWS_RETRY_MODE", &*texts[0]), ("AWS_MAX_ATTEMPTS", &*texts[1])];
        let _ = RetryConfig::new().or_variables(variables(&set));
        let _ = RetryConfig::new().or_profile(&texts[2], Path::new("file"), &texts[3]);
    }

    // Rule C14.
    #[test]
    fn no_file_causes_a_panic(lines in prop::collection::vec(
        r"[\[ \t#;=:]{0,3}(profile |default|max_attempts|retry_mode)?[\]\[ \t#;=:'\x22\\0-9\u{feff}\r]{0,6}", 0..8
    )) {
        let outcome = RetryConfig::new().or_profile("default", Path::new("file"), &lines.join("\n"));
        if let Err(error) = outcome {
            prop_assert!(!error.to_string().contains(['\n', '\r']));
        }
    }
}

// Rule C6.
#[test]
fn a_setting_of_the_code_keeps_its_source_whatever_another_source_says() {
    let variable = |name: &str, value: &str| RetryConfig::from_prefixed_variables("X_", [(name, value)]).unwrap();
    let read = variable("X_MODE", "adaptive").or(variable("X_MAX_ATTEMPTS", "4")).or(variable("X_QUOTA_CAPACITY", "9"));
    for (key, name) in [("mode", "X_MODE"), ("max_attempts", "X_MAX_ATTEMPTS"), ("quota.capacity", "X_QUOTA_CAPACITY")]
    {
        assert_eq!(read.source_of(key), Some(&ConfigSource::Variable(name.into())), "{key}");
    }
    assert_eq!(read.source_of("backoff.base"), None);
    assert_eq!(read.source_of("no.key"), None);

    // The same values, but from code: first, and later.
    let code = RetryConfig::new().mode(RetryMode::Adaptive).try_max_attempts(4).unwrap().quota_capacity(9);
    let later = read.clone().mode(RetryMode::Adaptive).try_max_attempts(4).unwrap();
    for key in ["mode", "max_attempts", "quota.capacity"] {
        assert_eq!(code.clone().or(read.clone()).source_of(key), Some(&ConfigSource::Code), "{key}, code first");
        if key != "quota.capacity" {
            assert_eq!(later.source_of(key), Some(&ConfigSource::Code), "{key}, code later");
        }
    }
}
