//! Configurations that are serialized and deserialized.

use super::variables;
use crate::support::{millis, secs};
use proptest::prelude::*;
use retry_core::RetryConfig;
use retry_core::config::{ConfigSource, RetryMode};
use serde_json::{from_str, json, to_value};
use std::time::Duration;

fn error(text: &str) -> String {
    let text = from_str::<RetryConfig>(text).unwrap_err().to_string();
    text.rsplit_once(" at line").map_or(text.clone(), |(text, _)| text.to_owned())
}

#[test]
fn fields_are_named_and_times_are_text() {
    let config = RetryConfig::new()
        .retry_mode(RetryMode::Adaptive)
        .try_max_attempts(4)
        .unwrap()
        .backoff(millis(100), secs(20))
        .throttling_base(millis(1500))
        .max_retry_after(secs(120))
        .quota_capacity(1000);
    let value = to_value(&config).unwrap();
    assert_eq!(
        value,
        json!({
            "retry_mode": "adaptive",
            "max_attempts": 4,
            "backoff": { "base": "100ms", "cap": "20s" },
            "throttling_base": "1s 500ms",
            "max_retry_after": "2m",
            "quota_capacity": 1000,
        })
    );
    assert_eq!(from_str::<RetryConfig>(&value.to_string()).unwrap(), config);
}

#[test]
fn missing_and_null_fields_are_not_set() {
    assert_eq!(from_str::<RetryConfig>("{}").unwrap(), RetryConfig::new());
    assert_eq!(from_str::<RetryConfig>(r#"{"max_attempts": null, "backoff": null}"#).unwrap(), RetryConfig::new());
    assert_eq!(to_value(RetryConfig::new()).unwrap(), json!({}));
}

#[test]
fn values_are_checked_by_the_same_rules_as_elsewhere() {
    let config =
        r#"{"retry_mode": " Legacy ", "max_attempts": " 3 ", "throttling_base": "1500ms", "quota_capacity": 0}"#;
    let expected = RetryConfig::new().retry_mode(RetryMode::Standard).try_max_attempts(3).unwrap();
    assert_eq!(from_str::<RetryConfig>(config).unwrap(), expected.throttling_base(millis(1500)).quota_capacity(0));

    let attempts = "a whole number from 1 to 4294967295, since it counts the first attempt too";
    for (json, value) in
        [("0", "0"), ("-1", "-1"), ("4294967296", "4294967296"), ("1.5", "1.5"), ("4.0", "4.0"), (r#""3abc""#, "3abc")]
    {
        let line = format!("invalid max_attempts {value:?}: expected {attempts}");
        assert_eq!(error(&format!(r#"{{"max_attempts": {json}}}"#)), line);
    }
    for (text, line) in [
        (r#"{"retry_mode": "fast"}"#, r#"invalid retry_mode "fast": expected standard, adaptive or legacy"#),
        (r#"{"quota_capacity": -1}"#, r#"invalid quota_capacity "-1": expected a whole number from 0 to 4294967295"#),
        (
            r#"{"backoff": {"base": 5, "cap": "1s"}}"#,
            r#"invalid backoff.base "5": expected a time with its unit, such as 100ms or 20s"#,
        ),
        (
            r#"{"backoff": {"base": "5s", "cap": "-1s"}}"#,
            r#"invalid backoff.cap "-1s": expected a time with its unit, such as 100ms or 20s"#,
        ),
        (
            r#"{"throttling_base": "1 parsec"}"#,
            r#"invalid throttling_base "1 parsec": expected a time with its unit, such as 100ms or 20s"#,
        ),
        (
            r#"{"max_retry_after": ""}"#,
            r#"invalid max_retry_after "": expected a time with its unit, such as 100ms or 20s"#,
        ),
    ] {
        assert_eq!(error(text), line);
    }
}

// Rule C15.
#[test]
fn an_unknown_field_and_an_incomplete_backoff_are_errors() {
    assert_eq!(
        error(r#"{"max_attempt": 3}"#),
        "unknown field `max_attempt`, expected one of `retry_mode`, `max_attempts`, `backoff`, `throttling_base`, \
         `max_retry_after`, `quota_capacity`"
    );
    assert_eq!(error(r#"{"backoff": {"base": "1s"}}"#), "missing field `cap`");
    assert_eq!(
        error(r#"{"backoff": {"base": "1s", "cap": "2s", "jitter": 1}}"#),
        "unknown field `jitter`, expected `base` or `cap`"
    );
    assert_eq!(error(r#"{"max_attempts": [3]}"#), "invalid type: sequence, expected a text or a number");
    assert_eq!(error(r#"{"max_attempts": true}"#), "invalid type: boolean `true`, expected a text or a number");
}

#[test]
fn a_mode_is_serialized_as_its_name() {
    assert_eq!(to_value([RetryMode::Standard, RetryMode::Adaptive]).unwrap(), json!(["standard", "adaptive"]));
    assert_eq!(
        from_str::<[RetryMode; 2]>(r#"["LEGACY", " adaptive"]"#).unwrap(),
        [RetryMode::Standard, RetryMode::Adaptive]
    );
    let error = from_str::<RetryMode>(r#""fast""#).unwrap_err().to_string();
    assert!(error.starts_with(r#"invalid retry_mode "fast": expected standard, adaptive or legacy"#), "{error}");
}

// Rule C15.
#[test]
fn deserialized_settings_count_as_code_and_the_environment_sets_the_rest() {
    let config: RetryConfig = from_str(r#"{"max_attempts": 3}"#).unwrap();
    let set = [("AWS_MAX_ATTEMPTS", "0"), ("AWS_RETRY_MODE", "adaptive")];
    let config = config.or_variables(variables(&set)).unwrap();
    assert_eq!((config.max_attempts_setting(), config.max_attempts_source()), (Some(3), Some(&ConfigSource::Code)));
    assert_eq!(config.retry_mode_setting(), Some(RetryMode::Adaptive));
    assert_eq!(from_str::<RetryConfig>(&to_value(&config).unwrap().to_string()).unwrap(), config);
}

fn times() -> impl Strategy<Value = Duration> {
    prop_oneof![any::<Duration>(), Just(Duration::ZERO), Just(Duration::MAX), Just(Duration::from_nanos(1))]
}

proptest! {
    // Rule C15.
    #[test]
    fn every_configuration_survives_a_round_trip(
        mode in prop::option::of(prop::sample::select(&super::MODES[..])),
        attempts in prop::option::of(1..=u32::MAX),
        backoff in prop::option::of((times(), times())),
        others in prop::array::uniform2(prop::option::of(times())),
        capacity in prop::option::of(any::<u32>()),
    ) {
        let mut config = RetryConfig::new();
        config = if let Some(mode) = mode { config.retry_mode(mode) } else { config };
        config = if let Some(attempts) = attempts { config.try_max_attempts(attempts).unwrap() } else { config };
        config = if let Some((base, cap)) = backoff { config.backoff(base, cap) } else { config };
        config = if let Some(base) = others[0] { config.throttling_base(base) } else { config };
        config = if let Some(max) = others[1] { config.max_retry_after(max) } else { config };
        config = if let Some(capacity) = capacity { config.quota_capacity(capacity) } else { config };
        let text = to_value(&config).unwrap().to_string();
        prop_assert_eq!(from_str::<RetryConfig>(&text).unwrap(), config);
    }
}
