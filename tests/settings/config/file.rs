//! The shared config file: its location, its profiles and its syntax.

use super::{Files, variables};
use proptest::prelude::*;
use retry_config::{ConfigError, ConfigSource, RetryConfig, RetryMode};
use std::error::Error;
use std::io;
use std::path::Path;

fn read(profile: &str, text: &str) -> Result<RetryConfig, ConfigError> {
    RetryConfig::new().or_profile(profile, Path::new("/etc/aws"), text)
}

fn attempts(profile: &str, text: &str) -> Option<u32> {
    read(profile, text).unwrap().max_attempts_setting()
}

// Rule C10.
#[test]
fn the_profile_is_the_named_one_or_default() {
    let text =
        "[default]\nmax_attempts=1\n[profile a]\nmax_attempts=2\n[profile A]\nmax_attempts=3\n[a]\nmax_attempts=4\n";
    assert_eq!(attempts("default", text), Some(1));
    assert_eq!(attempts("a", text), Some(2));
    assert_eq!(attempts("A", text), Some(3), "names are case-sensitive");
    assert_eq!(
        attempts("b", text),
        None,
        "a missing profile is not an error, because it may be in the credentials file"
    );
    assert_eq!(attempts("profile a", text), None);
    assert_eq!(attempts("", text), None);

    let files = Files::new();
    let file = files.write("config", text);
    let mut set = vec![("AWS_CONFIG_FILE", file.to_str().unwrap())];
    assert_eq!(RetryConfig::new().or_variables(variables(&set)).unwrap().max_attempts_setting(), Some(1));
    set.push(("AWS_PROFILE", "a"));
    let config = RetryConfig::new().or_variables(variables(&set)).unwrap();
    assert_eq!(config.max_attempts_setting(), Some(2));
    let source = config.source_of("max_attempts").unwrap();
    assert_eq!(source.to_string(), format!(r#"profile "a" in the file {file:?}"#));
    set[1] = ("AWS_PROFILE", "missing");
    assert_eq!(RetryConfig::new().or_variables(variables(&set)).unwrap(), RetryConfig::new());
}

#[test]
fn the_default_profile_may_have_its_prefix_and_hides_the_one_without() {
    assert_eq!(attempts("default", "[profile default]\nmax_attempts = 2"), Some(2));
    for text in [
        "[default]\nmax_attempts = 1\nretry_mode = adaptive\n[profile default]\nmax_attempts = 2",
        "[profile default]\nmax_attempts = 2\n[default]\nmax_attempts = 1\nretry_mode = adaptive",
    ] {
        let config = read("default", text).unwrap();
        assert_eq!((config.max_attempts_setting(), config.mode_setting()), (Some(2), None));
    }
}

#[test]
fn section_headers_are_read_as_the_sdks_and_the_cli_write_them() {
    for section in [
        "[profile a b]",
        "[profile\ta b]",
        "[ profile   a b\t]",
        "[profile 'a b']",
        "[profile \"a b\"] # see [profile c]",
        "[profile a b]; adjacent",
    ] {
        assert_eq!(attempts("a b", &format!("{section}\nmax_attempts = 3")), Some(3), "{section}");
    }
    let name = "some-thing:long/the_one%only.foo@bar+";
    assert_eq!(attempts(name, &format!("[profile {name}]\nmax_attempts = 3")), Some(3));
    for section in ["[a]", "[profilea]", "[profile b]", "[sso-session a]", "[services a]", "[profile]"] {
        assert_eq!(attempts("a", &format!("{section}\nmax_attempts = 3")), None, "{section}");
    }
}

// Rule C11.
#[test]
fn values_are_read_verbatim_without_comments() {
    for line in [
        "max_attempts=3",
        "max_attempts = 3",
        "MAX_ATTEMPTS \t=  \t3 \t",
        "max_attempts = 3 # three",
        "max_attempts = 3 ; three # or not",
        "max_attempts = 3\r",
        "max_attempts = 2\nmax_attempts = 3",
        "# max_attempts = 4\nmax_attempts = 3",
        "; max_attempts = 4\nmax_attempts = 3",
        "Max_Attempts = 3",
        "max_attempts = 3\n\n   \t\n# end",
        "  max_attempts = 3\n  region = x",
    ] {
        assert_eq!(attempts("default", &format!("[default]\n{line}\nregion = eu-west-1")), Some(3), "{line}");
    }
    for value in ["3# three", "3; three", "\"3\"", "'3'", "3 \\", "3\\"] {
        let error = read("default", &format!("[default]\nmax_attempts = {value}\nregion = x")).unwrap_err();
        assert_eq!(error.setting().unwrap().value(), value);
    }
    // A backslash at the end of a line does not continue it.
    assert_eq!(attempts("default", "[default]\npath = C:\\data\\\nmax_attempts = 3"), Some(3));
    assert_eq!(
        attempts("default", "\u{feff}[default]\r\nmax_attempts = 3\r\n"),
        Some(3),
        "a byte order mark and Windows line ends are accepted"
    );
    assert_eq!(attempts("default", ""), None);
}

// Rule C12.
#[test]
fn nested_and_continued_lines_are_not_settings_of_the_profile() {
    let text = "
[default]
region = eu-west-1
s3 =
  max_concurrent_requests = 20
  max_attempts = 30

  # a comment
  addressing_style = path
credential_process = /bin/sh -c 'a = b'
  [ -e file ]
  [profile next]
\targument
retry_mode = adaptive
[profile next]
s3 =
    max_attempts = 30
max_attempts = 4
";
    let config = read("default", text).unwrap();
    assert_eq!((config.max_attempts_setting(), config.mode_setting()), (None, Some(RetryMode::Adaptive)));
    assert_eq!(attempts("next", text), Some(4));
    let error = read("default", "[default]\nmax_attempts = 3\n 4").unwrap_err();
    assert_eq!(error.setting().unwrap().value(), "3\n4");
}

#[test]
fn sections_of_the_same_name_are_merged() {
    let parts =
        ["[profile a]", "retry_mode = adaptive", "max_attempts = 2", "[profile b]", "[profile a]", "max_attempts = 3"];
    let text = &parts.join("\n");
    let config = read("a", text).unwrap();
    assert_eq!((config.max_attempts_setting(), config.mode_setting()), (Some(3), Some(RetryMode::Adaptive)));
}

// Rule C12.
#[test]
fn an_indented_header_continues_a_value_and_the_error_names_its_line() {
    let text = "[default]\nmax_attempts = 3\n\n# next\n  [profile b]\n  max_attempts = 4\n";
    let error = read("default", text).unwrap_err();
    assert_eq!(error.setting().unwrap().value(), "3\n\n[profile b]\nmax_attempts = 4");
    let line = error.to_string();
    assert!(line.ends_with("; line 5 continues the value, since it is indented further than the key"), "{line}");
    assert!(!line.contains('\n'));
    assert_eq!(attempts("b", text), None);

    let indented = text.replace("max_attempts = 3", "  max_attempts = 3");
    assert_eq!((attempts("default", &indented), attempts("b", &indented)), (Some(3), Some(4)));
}

proptest! {
    // Rule C12.
    #[test]
    fn indenting_a_whole_file_changes_nothing(
        lines in prop::collection::vec(
            "[ \t]{0,3}(\\[default\\]|\\[profile b\\]|max_attempts ?[=:] ?[0-4]?|s3 =|a = b|oops|[#;] c|)", 0..8
        ),
        indentation in "[ \t]{1,3}",
    ) {
        let indented: Vec<_> = lines.iter().map(|line| format!("{indentation}{line}")).collect();
        for profile in ["default", "b"] {
            let [plain, indented] = [&lines, &indented].map(|lines| read(profile, &lines.join("\n")));
            prop_assert_eq!(plain.map_err(|error| error.to_string()), indented.map_err(|error| error.to_string()));
        }
    }
}

// Rule C13.
#[test]
fn a_malformed_file_is_an_error_that_names_the_line_and_quotes_nothing() {
    for (text, what) in [
        ("aws_secret_access_key = 3", "line 1 stands before the first section"),
        ("[default]\nmax_attempts 3", "line 2 has no `=`"),
        ("[default]\nmax_attempts = 3\n[profile b]\noops\u{1b}[2J", "line 4 has no `=`"),
        ("[default]\ns3 =\n\n  oops", "line 4 is part of a nested value and has no `=`"),
        ("[default]\nmax_attempts =\n  3", "line 3 is part of a nested value and has no `=`"),
        ("\n[default\nmax_attempts = 3", "line 2 is not a complete section header"),
        ("[default]\r\n\r\n[]\r\n", "line 3 is not a complete section header"),
        ("[default]\n= 3", "line 2 has no key"),
    ] {
        let error = read("default", text).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(r#"profile "default" in the file "/etc/aws": the file is malformed: {what}"#)
        );
        assert!(error.setting().is_none() && error.source().is_none());
    }
}

// Rule C9.
#[test]
fn the_file_is_at_the_configured_path_or_in_the_home_directory() {
    let files = Files::new();
    files.write(".aws/config", "[default]\nmax_attempts = 2");
    files.write("other", "[default]\nmax_attempts = 3");
    let (home, other) = (files.path().to_str().unwrap(), files.path().join("other"));
    let found = |set: &[(&str, &str)]| RetryConfig::new().or_variables(variables(set)).unwrap().max_attempts_setting();
    assert_eq!(found(&[("HOME", home)]), Some(2));
    assert_eq!(found(&[("HOME", "/nowhere"), ("AWS_CONFIG_FILE", other.to_str().unwrap())]), Some(3));
    assert_eq!(found(&[("HOME", home), ("AWS_CONFIG_FILE", "~/other")]), Some(3));
    assert_eq!(found(&[("AWS_CONFIG_FILE", "~/other")]), None, "no home");
    assert_eq!(found(&[("HOME", home), ("AWS_CONFIG_FILE", "~other")]), None, "a plain file name");
    assert_eq!(found(&[("HOME", home), ("AWS_CONFIG_FILE", "$HOME/other")]), None, "variables are not expanded");
    assert_eq!(
        found(&[("HOME", home), ("AWS_CONFIG_FILE", "/nowhere/at/all")]),
        None,
        "a missing file is not an error"
    );
    let under_a_file = other.join("config");
    assert_eq!(found(&[("AWS_CONFIG_FILE", under_a_file.to_str().unwrap())]), None, "a path below a file is missing");
    assert_eq!(found(&[("HOME", other.to_str().unwrap())]), None, "a home that is a file has no config file");
    assert_eq!(found(&[("USERPROFILE", home)]), cfg!(windows).then_some(2));
    assert_eq!(found(&[]), None);
}

#[test]
fn the_credentials_file_and_aws_default_profile_are_not_read() {
    let files = Files::new();
    files.write(".aws/config", "[default]\nregion = x\n[profile a]\nmax_attempts = 2");
    files.write(".aws/credentials", "[default]\nmax_attempts = 3");
    let set = [("HOME", files.path().to_str().unwrap()), ("AWS_DEFAULT_PROFILE", "a")];
    assert_eq!(RetryConfig::new().or_variables(variables(&set)).unwrap(), RetryConfig::new());
}

// Rule C9.
#[cfg(unix)]
#[test]
fn a_home_that_is_not_a_directory_has_no_config_file() {
    let config = RetryConfig::new().or_variables(variables(&[("HOME", "/dev/null")])).unwrap();
    assert_eq!(config, RetryConfig::new());
}

// Rule C9.
#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    let files = Files::new();
    let latin = files.write("latin", b"[default]\nname = caf\xe9\n");
    let locked = files.write("locked", "[default]\n");
    std::fs::set_permissions(&locked, Permissions::from_mode(0o000)).unwrap();
    // Root can read a locked file.
    let is_locked = std::fs::read(&locked).is_err();
    let unreadable = [
        (files.path(), io::ErrorKind::IsADirectory, "Is a directory (os error 21)"),
        (&latin, io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"),
        (&locked, io::ErrorKind::PermissionDenied, "Permission denied (os error 13)"),
    ];
    for (path, kind, why) in unreadable.into_iter().filter(|(path, ..)| *path != locked || is_locked) {
        let set = [("AWS_CONFIG_FILE", path.to_str().unwrap()), ("AWS_PROFILE", "a")];
        let error = RetryConfig::new().or_variables(variables(&set)).unwrap_err();
        assert_eq!(error.to_string(), format!(r#"profile "a" in the file {path:?}: the file can't be read: {why}"#));
        assert!(matches!(error.found_in(), ConfigSource::Profile { name, file, .. } if name == "a" && file == path));
        assert_eq!(error.source().unwrap().downcast_ref::<io::Error>().unwrap().kind(), kind);
        assert!(error.setting().is_none());
    }
}
