//! The environment of a real process. Each test starts a child process, because concurrent tests share one environment.

use super::Files;
use crate::support::run_in_a_process;
use retry_config::RetryConfig;

/// Prints the settings of the environment to standard error, which the test harness does not use.
#[test]
#[ignore = "started in a child process by the tests below"]
fn child() {
    match RetryConfig::new().or_environment() {
        Ok(config) => {
            let source = |source: Option<_>| source.map_or("none".to_owned(), ToString::to_string);
            let (mode, attempts) = (config.mode_setting(), config.max_attempts_setting());
            eprintln!("retry_mode {mode:?} from {}", source(config.source_of("mode")));
            eprintln!("max_attempts {attempts:?} from {}", source(config.source_of("max_attempts")));
        }
        Err(error) => eprintln!("error: {error}"),
    }
}

/// Returns the output of a child with these variables.
fn child_with(variables: &[(&str, &str)]) -> String {
    run_in_a_process("config::process::child", |child| {
        for name in ["AWS_RETRY_MODE", "AWS_MAX_ATTEMPTS", "AWS_PROFILE", "AWS_CONFIG_FILE", "HOME", "USERPROFILE"] {
            child.env_remove(name);
        }
        child.envs(variables.iter().copied());
    })
}

#[test]
fn or_environment_reads_the_variables_of_the_process_and_the_file_that_they_name() {
    assert_eq!(child_with(&[]), "retry_mode None from none\nmax_attempts None from none\n");
    assert_eq!(
        child_with(&[("AWS_RETRY_MODE", "adaptive"), ("AWS_MAX_ATTEMPTS", "7")]),
        "retry_mode Some(Adaptive) from environment variable AWS_RETRY_MODE\n\
         max_attempts Some(7) from environment variable AWS_MAX_ATTEMPTS\n"
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
            "retry_mode Some(Standard) from environment variable AWS_RETRY_MODE\n\
             max_attempts Some(2) from profile \"default\" in the file {in_home:?}\n"
        )
    );
    assert_eq!(
        child_with(&[("HOME", home), ("AWS_PROFILE", "a")]),
        format!("retry_mode None from none\nmax_attempts Some(3) from profile \"a\" in the file {in_home:?}\n")
    );
    assert_eq!(
        child_with(&[("HOME", home), ("AWS_PROFILE", "a"), ("AWS_CONFIG_FILE", other)]),
        format!("retry_mode Some(Standard) from profile \"a\" in the file {other:?}\nmax_attempts None from none\n")
    );
}

#[cfg(unix)]
#[test]
fn or_environment_treats_a_home_that_is_not_a_directory_as_empty() {
    assert_eq!(child_with(&[("HOME", "/dev/null")]), "retry_mode None from none\nmax_attempts None from none\n");
}
