//! The environment of a real process. It is a child's, since tests that run side by side share their own.

use super::Files;
use retry_core::RetryConfig;
use std::env;
use std::process::Command;

/// Prints what the environment says, to the stream that the test harness does not write to.
#[test]
#[ignore = "run in a process of its own by the tests below"]
fn child() {
    match RetryConfig::new().or_environment() {
        Ok(config) => {
            let source = |source: Option<_>| source.map_or("nobody".to_owned(), ToString::to_string);
            let (mode, attempts) = (config.retry_mode_setting(), config.max_attempts_setting());
            eprintln!("retry_mode {mode:?} by {}", source(config.retry_mode_source()));
            eprintln!("max_attempts {attempts:?} by {}", source(config.max_attempts_source()));
        }
        Err(error) => eprintln!("error: {error}"),
    }
}

/// What a child with these variables prints.
fn child_with(variables: &[(&str, &str)]) -> String {
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "config::process::child", "--include-ignored", "--nocapture"]);
    for variable in ["AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS", "AWS_PROFILE", "AWS_CONFIG_FILE", "HOME", "USERPROFILE"] {
        child.env_remove(variable);
    }
    let output = child.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn or_environment_reads_the_variables_of_the_process_and_the_file_they_lead_to() {
    assert_eq!(child_with(&[]), "retry_mode None by nobody\nmax_attempts None by nobody\n");
    assert_eq!(
        child_with(&[("AWS_RETRY_MODE", "adaptive"), ("AWS_MAX_ATTEMPTS", "7")]),
        "retry_mode Some(Adaptive) by environment variable AWS_RETRY_MODE\n\
         max_attempts Some(7) by environment variable AWS_MAX_ATTEMPTS\n"
    );
    assert_eq!(
        child_with(&[("AWS_MAX_ATTEMPTS", "0")]),
        "error: environment variable AWS_MAX_ATTEMPTS: invalid max_attempts \"0\": expected a whole number from 1 to \
         4294967295, since it counts the first attempt too\n"
    );

    let files = Files::new();
    let in_home = files.write(".aws/config", "[default]\nmax_attempts = 2\n[profile a]\nmax_attempts = 3");
    let other = files.write("other", "[profile a]\nretry_mode = legacy");
    let (home, other) = (files.path().to_str().unwrap(), other.to_str().unwrap());
    assert_eq!(
        child_with(&[("HOME", home), ("AWS_RETRY_MODE", "standard")]),
        format!(
            "retry_mode Some(Standard) by environment variable AWS_RETRY_MODE\n\
             max_attempts Some(2) by profile \"default\" in the file {in_home:?}\n"
        )
    );
    assert_eq!(
        child_with(&[("HOME", home), ("AWS_PROFILE", "a")]),
        format!("retry_mode None by nobody\nmax_attempts Some(3) by profile \"a\" in the file {in_home:?}\n")
    );
    assert_eq!(
        child_with(&[("HOME", home), ("AWS_PROFILE", "a"), ("AWS_CONFIG_FILE", other)]),
        format!("retry_mode Some(Standard) by profile \"a\" in the file {other:?}\nmax_attempts None by nobody\n")
    );
}

#[cfg(unix)]
#[test]
fn or_environment_takes_a_home_that_is_no_directory_for_an_empty_one() {
    assert_eq!(child_with(&[("HOME", "/dev/null")]), "retry_mode None by nobody\nmax_attempts None by nobody\n");
}
