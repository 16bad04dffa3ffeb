//! Configurations that are serialized and deserialized, in three formats.

use super::variables;
use crate::support::{millis, secs};
use proptest::prelude::*;
use retry_config::{ConfigSource, QuotaKind, RetryConfig, RetryMode, RetryPreset, ScopedRetryConfig};
use retry_core::Jitter;
use retry_core::strategy::{HintJitter, HintLimit, Refund, RetryCosts};
use retry_limits::Rejections;
use serde::de::value::{BytesDeserializer, MapDeserializer, StrDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor, value};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{from_str, json, to_value};
use std::path::Path;
use std::time::Duration;

fn error(text: &str) -> String {
    let text = from_str::<RetryConfig>(text).unwrap_err().to_string();
    text.rsplit_once(" at line").map_or(text.clone(), |(text, _)| text.to_owned())
}

fn every_setting() -> RetryConfig {
    RetryConfig::new()
        .preset(RetryPreset::Aws21)
        .mode(RetryMode::Adaptive)
        .try_max_attempts(4)
        .unwrap()
        .max_retry_after(Some(secs(120)))
        .hint_replaces_backoff(true)
        .hint_limit(HintLimit::BeyondBackoff(secs(5)))
        .hint_jitter(HintJitter::new(20, secs(3)))
        .backoff(millis(100), secs(20))
        .throttling_base(millis(1500))
        .conflict_base(millis(30))
        .try_jitter(Jitter::Equal)
        .unwrap()
        .quota_kind(QuotaKind::Bucket)
        .quota_capacity(1000)
        .try_quota_refill(10, secs(1))
        .unwrap()
        .retry_costs(RetryCosts::new(4).throttling(1).timeout(2).conflict(3))
        .refunds(6, Refund::LastCost)
        .paced_ramp(false)
        .paced_max_throttled_time(Duration::from_secs(9))
        .paced_rejections(Rejections::ServerErrors)
        .try_paced_max_rate(100.0)
        .unwrap()
        .paced_burst(200)
        .try_paced_initial_rate(12.5)
        .unwrap()
}

const TOML: &str = r#"
preset = "aws_2_1"
mode = "adaptive"
max_attempts = 4
max_retry_after = "2m"
hint_replaces_backoff = true
hint_limit = { beyond_backoff = "5s" }
hint_jitter = { percent = 20, at_most = "3s" }

[backoff]
base = "100ms"
cap = "20s"
throttling_base = "1500ms"
conflict_base = "30ms"
jitter = "equal"

[quota]
kind = "bucket"
capacity = 1000
refill = { amount = 10, every = "1s" }
costs = { throttling = 1, timeout = 2, conflict = 3, other = 4 }
refunds = { first_attempt = 6, after_retry = "last_cost" }

[paced]
ramp = false
max_throttled_time = "9s"
rejections = "server_errors"
max_rate = 100
burst = 200
initial_rate = 12.5
"#;

const YAML: &str = "
preset: aws_2_1
mode: adaptive
max_attempts: 4
max_retry_after: 2m
hint_replaces_backoff: true
hint_limit:
  beyond_backoff: 5s
hint_jitter: { percent: 20, at_most: 3s }
backoff:
  base: 100ms
  cap: 20s
  throttling_base: 1500ms
  conflict_base: 30ms
  jitter: equal
quota:
  kind: bucket
  capacity: 1000
  refill: { amount: 10, every: 1s }
  costs: { throttling: 1, timeout: 2, conflict: 3, other: 4 }
  refunds: { first_attempt: 6, after_retry: last_cost }
paced: { ramp: false, max_throttled_time: 9s, rejections: server_errors, max_rate: 100, burst: 200, initial_rate: 12.5 }
";

// Rules C1, C15.
#[test]
fn every_setting_is_written_and_read_in_toml_yaml_and_json() {
    let config = every_setting();
    assert_eq!(toml::from_str::<RetryConfig>(TOML).unwrap(), config);
    assert_eq!(serde_saphyr::from_str::<RetryConfig>(YAML).unwrap(), config);
    let value = to_value(&config).unwrap();
    let expected = json!({
        "preset": "aws_2_1",
        "mode": "adaptive",
        "max_attempts": 4,
        "max_retry_after": "2m",
        "hint_replaces_backoff": true,
        "hint_limit": { "beyond_backoff": "5s" },
        "hint_jitter": { "percent": 20, "at_most": "3s" },
        "backoff": {
            "base": "100ms", "cap": "20s", "throttling_base": "1500ms", "conflict_base": "30ms", "jitter": "equal",
        },
        "quota": {
            "kind": "bucket",
            "capacity": 1000,
            "refill": { "amount": 10, "every": "1s" },
            "costs": { "throttling": 1, "timeout": 2, "conflict": 3, "other": 4 },
            "refunds": { "first_attempt": 6, "after_retry": "last_cost" },
        },
        "paced": {
            "ramp": false, "max_throttled_time": "9s", "rejections": "server_errors", "max_rate": 100.0, "burst": 200,
            "initial_rate": 12.5,
        },
    });
    assert_eq!(value, expected);
    assert_eq!(from_str::<RetryConfig>(&value.to_string()).unwrap(), config);
    assert_eq!(toml::from_str::<RetryConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    assert_eq!(serde_saphyr::from_str::<RetryConfig>(&serde_saphyr::to_string(&config).unwrap()).unwrap(), config);
}

#[test]
fn the_documentation_lists_every_key() {
    let source = include_str!("../../../retry-config/src/lib.rs");
    let (_, rest) = source.split_once("/// ```toml\n").unwrap();
    let (text, _) = rest.split_once("/// ```\n").unwrap();
    let lines: Vec<_> = text.lines().map(|line| line.trim_start_matches("///").trim_start()).collect();
    let text = lines.join("\n");
    let document = toml::Deserializer::parse(&text).unwrap();
    let config = RetryConfig::from_file_section("settings.toml", "store", document).unwrap();
    // One key is another form of `hint_limit`.
    let keys = |config: &RetryConfig| {
        config.entries().map(|(key, _)| key.split_once(".bey").map_or(key, |k| k.0)).collect::<Vec<_>>()
    };
    assert_eq!(keys(&config), keys(&every_setting()));
}

#[test]
fn missing_and_null_keys_are_not_set() {
    assert_eq!(from_str::<RetryConfig>("{}").unwrap(), RetryConfig::new());
    assert_eq!(from_str::<RetryConfig>(r#"{"max_attempts": null, "backoff": null}"#).unwrap(), RetryConfig::new());
    assert_eq!(serde_saphyr::from_str::<RetryConfig>("backoff:\n  base: ~\n").unwrap(), RetryConfig::new());
    assert_eq!(to_value(RetryConfig::new()).unwrap(), json!({}));
}

#[test]
fn in_yaml_1_1_off_is_a_boolean() {
    let off = RetryConfig::new().mode(RetryMode::Off);
    for text in ["mode: off", "mode: 'off'", "mode: false"] {
        assert_eq!(serde_saphyr::from_str::<RetryConfig>(text).unwrap(), off, "{text}");
    }
    assert_eq!(toml::from_str::<RetryConfig>("mode = \"off\"").unwrap(), off);
    assert_eq!(error(r#"{"mode": true}"#), r#"invalid mode "true": expected standard, adaptive, paced or off"#);
}

// Rules C15, C17.
#[test]
fn a_field_of_the_users_own_configuration_names_the_key_in_an_error() {
    #[derive(Deserialize, Debug)]
    struct Settings {
        #[expect(dead_code, reason = "only the error is looked at")]
        store: RetryConfig,
    }
    let expected =
        r#"invalid backoff.base "5": expected a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms"#;
    let toml = toml::from_str::<Settings>("[store.backoff]\nbase = 5").unwrap_err().to_string();
    assert!(toml.contains(expected), "{toml}");
    let yaml = serde_saphyr::from_str::<Settings>("store:\n  backoff:\n    base: 5\n").unwrap_err().to_string();
    assert!(yaml.contains(expected), "{yaml}");
    let json = from_str::<Settings>(r#"{"store": {"backoff": {"base": 5}}}"#).unwrap_err().to_string();
    assert!(json.starts_with(expected), "{json}");
}

// Rules C6, C17.
#[test]
fn a_section_of_a_file_names_the_file_and_the_whole_key_in_an_error() {
    let text = "[store.retry.quota]\nrefil = 3\n[wrong]\nretry = 7\n[other]";
    let read = |section: &str| {
        RetryConfig::from_file_section("conf/settings.toml", section, toml::Deserializer::parse(text).unwrap())
    };
    let error = read("store.retry").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"file "conf/settings.toml": unknown key store.retry.quota.refil: did you mean store.retry.quota.refill?"#
    );
    assert_eq!(error.found_in(), &ConfigSource::File("conf/settings.toml".into()));
    assert_eq!(error.key().as_deref(), Some("store.retry.quota.refil"));
    assert_eq!(error.suggestion().as_deref(), Some("store.retry.quota.refill"));
    assert!(error.setting().is_none());
    let keys = "preset, mode, max_attempts, max_retry_after, hint_replaces_backoff, hint_limit, hint_jitter, backoff, quota, paced";
    assert_eq!(
        read("wrong.retry").unwrap_err().to_string(),
        format!(r#"file "conf/settings.toml": invalid wrong.retry "7": expected a group of the keys {keys}"#)
    );
    assert_eq!(read("other").unwrap(), RetryConfig::new());

    let yaml = "store: { max_attempts: 0, mode: adaptive }";
    let value: serde_json::Value = serde_saphyr::from_str(yaml).unwrap();
    let error = RetryConfig::from_file_section("s.yaml", "store", value).unwrap_err();
    let attempts = "a whole number from 1 to 4294967295, since it counts the first attempt too";
    assert_eq!(error.to_string(), format!(r#"file "s.yaml": invalid store.max_attempts "0": expected {attempts}"#));
    let whole = &mut serde_json::Deserializer::from_str(r#"{"max_attempts": 3}"#);
    let config = RetryConfig::from_file_section("s.json", "", whole).unwrap();
    assert_eq!(config.source_of("max_attempts"), Some(&ConfigSource::File(Path::new("s.json").into())));
    let broken = &mut serde_json::Deserializer::from_str("{");
    let error = RetryConfig::from_file_section("s.json", "", broken).unwrap_err();
    assert!(error.to_string().starts_with(r#"file "s.json": the file is malformed: EOF"#), "{error}");
    assert_eq!((error.key(), error.suggestion(), error.part()), (None, None, None));
}

// Rule C17.
#[test]
fn an_unknown_key_is_an_error_with_a_suggestion() {
    for (json, line) in [
        (r#"{"max_attempt": 3}"#, "unknown key max_attempt: did you mean max_attempts?"),
        (r#"{"max_attempt": null}"#, "unknown key max_attempt: did you mean max_attempts?"),
        (r#"{"maxAttempts": 3}"#, "unknown key maxAttempts: did you mean max_attempts?"),
        (r#"{"backof": {"base": "1s"}}"#, "unknown key backof: did you mean backoff?"),
        (r#"{"backoff": {"bse": "1s"}}"#, "unknown key backoff.bse: did you mean backoff.base?"),
        (r#"{"capacity": 3}"#, "unknown key capacity: did you mean quota.capacity?"),
        (r#"{"quota_capacity": 3}"#, "unknown key quota_capacity: did you mean quota.capacity?"),
        (r#"{"throttling_base": "1s"}"#, "unknown key throttling_base: did you mean backoff.throttling_base?"),
        (r#"{"quota": {"cost": {}}}"#, "unknown key quota.cost: did you mean quota.costs?"),
        (
            r#"{"colour": "red"}"#,
            "unknown key colour: expected one of preset, mode, max_attempts, max_retry_after, hint_replaces_backoff, hint_limit, hint_jitter, backoff, quota, paced",
        ),
        (
            r#"{"quota": {"costs": {"colour": 1}}}"#,
            "unknown key quota.costs.colour: expected one of throttling, timeout, conflict, other",
        ),
        (
            r#"{"": 1}"#,
            "unknown key : expected one of preset, mode, max_attempts, max_retry_after, hint_replaces_backoff, hint_limit, hint_jitter, backoff, quota, paced",
        ),
    ] {
        assert_eq!(error(json), line);
    }
}

// Rule C17.
#[test]
fn a_name_of_something_that_code_sets_is_an_error_that_says_where_to_write_it() {
    const MAX_TIME: &str = "set it in code, for each function, as in `#[retryable(max_time = \"30s\")]`";
    let code = |how: &str| (format!("set it in code, {how}"), format!("set it in code, {how}"));
    let key = |file: &str, variable: &str| (format!("expected {file}"), format!("expected {variable}"));
    let all_attempts = "max_attempts, which counts the first attempt too";
    let all_attempts = || key(all_attempts, "STORE_MAX_ATTEMPTS, which counts the first attempt too");
    let rate = ", in sends per second, for the mode paced";
    let rate = || key(&format!("paced.max_rate{rate}"), &format!("STORE_PACED_MAX_RATE{rate}"));
    for (json, (in_file, in_environment)) in [
        (r#"{"max_time": "30s"}"#, (MAX_TIME.to_owned(), MAX_TIME.to_owned())),
        (r#"{"timeout": "30s"}"#, (MAX_TIME.to_owned(), MAX_TIME.to_owned())),
        (r#"{"attempt_timeout": "2s"}"#, code("for each function, as in `#[retryable(attempt_timeout = \"2s\")]`")),
        (r#"{"unlimited_attempts": true}"#, code("for each function, as in `#[retryable(unlimited_attempts)]`")),
        (r#"{"max_wait_for_service": 1}"#, code("as in `PatientRetryStrategy::new().max_wait_for_service(..)`")),
        (r#"{"max_waiting": 1}"#, code("as in `PatientRetryStrategy::new().max_waiting(..)`")),
        (r#"{"strategy": "patient"}"#, code("as in `build_on(PatientRetryStrategy::new())`")),
        (r#"{"max_retries": 3}"#, all_attempts()),
        (r#"{"retries": 3}"#, all_attempts()),
        (r#"{"attempts": 3}"#, key("max_attempts", "STORE_MAX_ATTEMPTS")),
        (r#"{"rate": 3}"#, rate()),
        (r#"{"max_rate": 3}"#, rate()),
        (
            r#"{"burst": 3}"#,
            key(
                "paced.burst, beside paced.max_rate, for the mode paced",
                "STORE_PACED_BURST, beside paced.max_rate, for the mode paced",
            ),
        ),
        (
            r#"{"enabled": false}"#,
            key("mode = \"off\", to switch retries off", "STORE_MODE=off, to switch retries off"),
        ),
    ] {
        let name = json.split('"').nth(1).unwrap();
        assert_eq!(error(json), format!("unknown key {name}: {in_file}"));
        let variable = format!("STORE_{}", name.to_ascii_uppercase());
        let found = RetryConfig::from_prefixed_variables("STORE_", [(&variable, "1")]).unwrap_err();
        assert_eq!(
            (found.to_string(), found.key()),
            (
                format!("environment variable {variable}: unknown key {variable}: {in_environment}"),
                Some(variable.clone())
            )
        );
    }
    let rate = "unknown key paced.rate: expected paced.max_rate, in sends per second, for the mode paced";
    assert_eq!(error(r#"{"paced": {"rate": 3}}"#), rate);
    // A key of the same name elsewhere is that key.
    assert_eq!(error(r#"{"quota": {"timeout": 3}}"#), "unknown key quota.timeout: did you mean quota.costs.timeout?");
}

// Rule C17.
#[test]
fn the_mode_patient_is_an_error_that_says_how_code_chooses_the_strategy() {
    let expected = "standard, adaptive, paced or off; to wait for the service, remove the mode, and write \
                    `build_on(PatientRetryStrategy::new())` in code";
    assert_eq!(error(r#"{"mode": "patient"}"#), format!("invalid mode \"patient\": expected {expected}"));
    assert_eq!(
        from_str::<RetryMode>("\"Patient\"").unwrap_err().to_string(),
        format!("invalid mode \"Patient\": expected {expected}")
    );
    assert_eq!(error(r#"{"mode": "fast"}"#), "invalid mode \"fast\": expected standard, adaptive, paced or off");
}

#[test]
fn a_setting_is_given_once_and_a_refill_as_a_whole() {
    assert_eq!(error(r#"{"mode": "off", "mode": "off"}"#), "the setting mode is given twice: write it once");
    assert_eq!(
        error(r#"{"hint_limit": "unlimited", "hint_limit": {"beyond_backoff": "1s"}}"#),
        "the setting hint_limit is given twice: write it once"
    );
    for (part, missing) in [(r#""amount": 1"#, "every"), (r#""every": "1s""#, "amount")] {
        assert_eq!(
            error(&format!(r#"{{"quota": {{"refill": {{{part}}}}}}}"#)),
            format!("the key quota.refill.{missing} is missing: write it beside the other one")
        );
    }
    assert_eq!(
        error(r#"{"backoff": 5}"#),
        r#"invalid backoff "5": expected a group of the keys base, cap, throttling_base, conflict_base, jitter"#
    );
    for list in ["[]", "[1]", "[1, 2, 3]"] {
        assert_eq!(
            error(list),
            r#"invalid settings "a list": expected a group of the keys preset, mode, max_attempts, max_retry_after, hint_replaces_backoff, hint_limit, hint_jitter, backoff, quota, paced"#
        );
    }
}

// Rule C18.
#[test]
fn a_duration_is_written_in_the_longest_unit_of_which_it_is_a_multiple() {
    let texts =
        ["0s", "1ns", "1001ns", "1us", "999us", "1ms", "1500ms", "1s", "61s", "1m", "90m", "1h", "25h", "3601s"];
    for text in texts {
        let config: RetryConfig = from_str(&format!(r#"{{"backoff": {{"base": "{text}"}}}}"#)).unwrap();
        assert_eq!(to_value(&config).unwrap(), json!({"backoff": {"base": text}}));
    }
    let config = RetryConfig::new().backoff(secs(2 * 3600), millis(2));
    assert_eq!(to_value(&config).unwrap(), json!({"backoff": {"base": "2h", "cap": "2ms"}}));
}

#[test]
fn a_mode_is_serialized_as_its_name() {
    let modes = [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Off];
    assert_eq!(to_value(modes).unwrap(), json!(["standard", "adaptive", "off"]));
    assert_eq!(from_str::<[RetryMode; 3]>(r#"["LEGACY", " adaptive", "Off"]"#).unwrap(), modes);
    let error = from_str::<RetryMode>(r#""fast""#).unwrap_err().to_string();
    assert!(error.starts_with(r#"invalid mode "fast": expected standard, adaptive, paced or off"#), "{error}");
}

// Rule C15.
#[test]
fn deserialized_settings_count_as_code_and_the_environment_sets_the_rest() {
    let config: RetryConfig = from_str(r#"{"max_attempts": 3}"#).unwrap();
    let set = [("AWS_MAX_ATTEMPTS", "0"), ("AWS_RETRY_MODE", "adaptive")];
    let config = config.or_variables(variables(&set)).unwrap();
    assert_eq!((config.max_attempts_setting(), config.source_of("max_attempts")), (Some(3), Some(&ConfigSource::Code)));
    assert_eq!(config.mode_setting(), Some(RetryMode::Adaptive));
    assert_eq!(from_str::<RetryConfig>(&to_value(&config).unwrap().to_string()).unwrap(), config);
}

fn times() -> impl Strategy<Value = Duration> {
    prop_oneof![any::<Duration>(), Just(Duration::ZERO), Just(Duration::MAX), Just(Duration::from_nanos(1))]
}

fn jitters() -> impl Strategy<Value = Jitter> {
    prop_oneof![
        Just(Jitter::Full),
        Just(Jitter::Equal),
        Just(Jitter::None),
        (0..=64_u8).prop_map(|part| Jitter::Fixed(f64::from(part) / 64.0))
    ]
}

fn hint_limits() -> impl Strategy<Value = HintLimit> {
    prop_oneof![Just(HintLimit::Unlimited), Just(HintLimit::MaxBackoff), times().prop_map(HintLimit::BeyondBackoff)]
}

proptest! {
    // Rule C15.
    #[test]
    fn every_configuration_survives_a_round_trip(
        mode in prop::option::of(prop::sample::select(&[RetryMode::Standard, RetryMode::Adaptive, RetryMode::Off][..])),
        attempts in prop::option::of(1..=u32::MAX),
        backoff in prop::option::of((times(), times())),
        bases in prop::array::uniform2(prop::option::of(times())),
        hint in prop::option::of(prop::option::of(times())),
        replaces in prop::option::of(any::<bool>()),
        hint_limit in prop::option::of(hint_limits()),
        hint_jitter in prop::option::of((any::<u32>(), times())),
        jitter in prop::option::of(jitters()),
        quota in prop::option::of((any::<u32>(), any::<u32>(), times().prop_filter("a period", |time| !time.is_zero()))),
        refunds in prop::option::of((any::<u32>(), prop::option::of(any::<u32>()))),
    ) {
        let mut config = RetryConfig::new();
        config = if let Some(mode) = mode { config.mode(mode) } else { config };
        config = if let Some(attempts) = attempts { config.try_max_attempts(attempts).unwrap() } else { config };
        config = if let Some((base, cap)) = backoff { config.backoff(base, cap) } else { config };
        config = if let Some(base) = bases[0] { config.throttling_base(base) } else { config };
        config = if let Some(base) = bases[1] { config.conflict_base(base) } else { config };
        config = if let Some(max) = hint { config.max_retry_after(max) } else { config };
        config = if let Some(replaces) = replaces { config.hint_replaces_backoff(replaces) } else { config };
        config = if let Some(limit) = hint_limit { config.hint_limit(limit) } else { config };
        if let Some((percent, at_most)) = hint_jitter {
            config = config.hint_jitter(HintJitter::new(percent, at_most));
        }
        config = if let Some(jitter) = jitter { config.try_jitter(jitter).unwrap() } else { config };
        if let Some((capacity, amount, every)) = quota {
            config = config.quota_capacity(capacity).try_quota_refill(amount, every).unwrap();
        }
        if let Some((first, after)) = refunds {
            config = config.refunds(first, after.map_or(Refund::LastCost, Refund::Amount));
        }
        let text = to_value(&config).unwrap().to_string();
        prop_assert_eq!(&from_str::<RetryConfig>(&text).unwrap(), &config);
        let text = toml::to_string(&config).unwrap();
        prop_assert_eq!(&toml::from_str::<RetryConfig>(&text).unwrap(), &config);
        let text = serde_saphyr::to_string(&config).unwrap();
        prop_assert_eq!(&serde_saphyr::from_str::<RetryConfig>(&text).unwrap(), &config);
        let prefixed = config.entries().map(|(key, value)| {
            (format!("P_{}", key.to_uppercase().replace('.', "_")), value)
        });
        prop_assert_eq!(&RetryConfig::from_prefixed_variables("P_", prefixed).unwrap(), &config);
    }
}

/// A group of settings whose values are of one type of serde's data model.
fn with_value<'de, V: IntoDeserializer<'de, value::Error>>(key: &'static str, value: V) -> Result<RetryConfig, String> {
    RetryConfig::deserialize(MapDeserializer::new([(key, value)].into_iter())).map_err(|error| error.to_string())
}

#[test]
fn a_number_is_read_in_each_type_that_a_format_gives_it() {
    let expected = RetryConfig::new().try_max_attempts(4).unwrap();
    assert_eq!(with_value("max_attempts", 4_u64).unwrap(), expected);
    assert_eq!(with_value("max_attempts", 4_i64).unwrap(), expected);
    assert_eq!(with_value("max_attempts", 4_u128).unwrap(), expected);
    assert_eq!(with_value("max_attempts", 4_i128).unwrap(), expected);
    for negative in [with_value("max_attempts", -4_i64), with_value("max_attempts", -4_i128)] {
        assert!(negative.unwrap_err().contains("\"-4\""), "the error names the value");
    }
}

#[test]
fn bytes_are_refused_by_name() {
    let error = with_value("max_attempts", BytesDeserializer::new(b"4")).unwrap_err();
    assert!(error.contains("bytes"), "{error}");
}

/// A value of a format that marks options, names its types or has enums. RON is such a format.
#[derive(Clone, Copy)]
enum Marked {
    None,
    Some(&'static str),
    Named(&'static str),
    Enum(&'static str),
}

impl<'de> Deserializer<'de> for Marked {
    type Error = value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, value::Error> {
        match self {
            Self::None => visitor.visit_none(),
            Self::Some(text) => visitor.visit_some(StrDeserializer::new(text)),
            Self::Named(text) => visitor.visit_newtype_struct(StrDeserializer::new(text)),
            Self::Enum(variant) => visitor.visit_enum(StrDeserializer::new(variant)),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl IntoDeserializer<'_, value::Error> for Marked {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[test]
fn marks_of_options_and_names_of_types_are_looked_through_and_enums_are_refused() {
    let expected = RetryConfig::new().mode(RetryMode::Paced);
    assert_eq!(with_value("mode", Marked::Some("paced")).unwrap(), expected);
    assert_eq!(with_value("mode", Marked::Named("paced")).unwrap(), expected);
    assert_eq!(with_value("mode", Marked::None).unwrap(), RetryConfig::new());
    assert_eq!(
        with_value("mode", Marked::Enum("paced")).unwrap_err(),
        "invalid type: enum, expected a group of settings"
    );
    assert!(
        error("null").starts_with(r#"invalid settings "null": expected a group of the keys "#),
        "{}",
        error("null")
    );
}

#[test]
fn an_environment_without_variables_of_the_prefix_sets_nothing() {
    assert_eq!(RetryConfig::from_environment_prefix("NO_SUCH_PREFIX_OF_A_TEST_").unwrap(), RetryConfig::new());
}

// Rule C17.
#[test]
fn a_missing_section_is_an_error_with_the_sections_of_the_file() {
    let error = |text: &str, section: &str| {
        let document = toml::Deserializer::parse(text).unwrap();
        let error = RetryConfig::from_file_section("s.toml", section, document).unwrap_err();
        let text = error.to_string();
        let (source, message) = text.split_once(": ").unwrap();
        assert_eq!(source, "file \"s.toml\"");
        (error.key().unwrap(), message.to_owned())
    };
    let expected = |key: &str, text: &str| (key.to_owned(), format!("the section {key} is missing: {text}"));
    let text = "name = 'a'\n[stor]\nmax_attempts = 4\n[cache.retry]";
    assert_eq!(error(text, "store"), expected("store", "did you mean stor? The file has cache, stor"));
    assert_eq!(error(text, "tables"), expected("tables", "expected it, at least empty, beside cache, stor"));
    assert_eq!(error(text, "cache.rety"), expected("cache.rety", "did you mean cache.retry? The file has cache.retry"));
    assert_eq!(error(text, "stores.retry").0, "stores");
    assert_eq!(error("name = 'store'", "store"), expected("store", "expected it, at least empty; the file has none"));
    let empty = serde_saphyr::from_str::<serde_json::Value>("").unwrap();
    assert!(RetryConfig::from_file_section("s.yaml", "store", empty).is_err());

    for value in ["null", "{}"] {
        for (section, text) in [("a", format!(r#"{{"a": {value}}}"#)), ("a.b", format!(r#"{{"a": {{"b": {value}}}}}"#))]
        {
            let document = &mut serde_json::Deserializer::from_str(&text);
            assert_eq!(RetryConfig::from_file_section("s.json", section, document).unwrap(), RetryConfig::new());
        }
    }
    let scopes = toml::Deserializer::parse("[stor.tenants.acme]").unwrap();
    let error = ScopedRetryConfig::<String>::from_file_section("s.toml", "store", "tenants", scopes).unwrap_err();
    assert_eq!(error.key().as_deref(), Some("store"));
}

// Rule C17.
#[test]
fn a_key_beside_the_place_of_a_missing_section_is_an_error_that_names_where_it_belongs() {
    let read = |section: &str, text: &str| {
        let document = toml::Deserializer::parse(text).unwrap();
        RetryConfig::from_file_section("settings.toml", section, document)
    };
    for (section, text, key, beside) in [
        ("store", "name = \"shop\"\nmax_attempts = 3", "max_attempts", ""),
        ("store", "[cache]\nttl = 3\n[backoff]\nbase = \"1s\"", "backoff", " beside cache"),
        ("shop.store", "max_attempts = 2\n[shop]\nmode = \"off\"", "shop.mode", ""),
        ("shop.store", "max_attempts = 2", "max_attempts", ""),
        ("a.b.c", "[a.backoff]\nbase = \"1s\"\n[a.cache]", "a.backoff", " beside a.cache"),
    ] {
        let error = read(section, text).unwrap_err();
        let meant = format!("{section}.{}", key.rsplit('.').next().unwrap());
        let words =
            format!("the key {key} is outside of the section {section}, which is missing{beside}: write {meant}");
        assert_eq!(error.to_string(), format!("file \"settings.toml\": {words}"));
        assert_eq!((error.key().as_deref(), error.suggestion()), (Some(key), Some(meant)));
        assert_eq!(error.found_in(), &ConfigSource::File("settings.toml".into()));
    }
    // A group or a value that only shares the name of a setting is not one, and a misspelled section is more likely.
    for text in ["[mode]\nx = 1", "backoff = true", "max_attempts = 3\n[stor]"] {
        let error = read("store", text).unwrap_err();
        assert_eq!(error.key().as_deref(), Some("store"), "{error}");
    }
    // Beside the section, such a key belongs to other code.
    assert_eq!(read("store", "max_attempts = 3\n[store]").unwrap(), RetryConfig::new());
}

// Rule C17.
#[test]
fn an_error_of_a_group_or_of_a_key_that_is_missing_or_given_twice_has_the_key() {
    let key = |text: &str| {
        let document = &mut serde_json::Deserializer::from_str(text);
        RetryConfig::from_file_section("settings.json", "store", document).unwrap_err().key().unwrap()
    };
    assert_eq!(key(r#"{"store": {"quota": 5}}"#), "store.quota");
    assert_eq!(key(r#"{"store": {"quota": {"capacity": {}}}}"#), "store.quota.capacity");
    assert_eq!(key(r#"{"store": {"quota": {"refill": {"amount": 5}}}}"#), "store.quota.refill.every");
    assert_eq!(key(r#"{"store": {"max_attempts": 5, "max_attempts": 5}}"#), "store.max_attempts");
    let twice = r#"{"amount": 5, "amount": 5, "every": "1s"}"#;
    assert_eq!(key(&format!(r#"{{"store": {{"quota": {{"refill": {twice}}}}}}}"#)), "store.quota.refill.amount");
}
