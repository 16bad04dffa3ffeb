//! Each key with good and bad values, from a file and from a variable, and what it does to a strategy.

use crate::support::{millis, secs};
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode};
use retry_core::strategy::{HintJitter, HintLimit, Refund};
use retry_core::{BackoffStrategy, Jitter, RetryErrorType, StandardRetryStrategy};
use retry_limits::Rejections;
use serde_json::{Value, json};

type Check = fn(&ConfiguredStrategy) -> bool;

struct Row {
    key: &'static str,
    good: Vec<(Value, Check)>,
    bad: &'static [&'static str],
    expected: &'static str,
}

const NUMBER: &str = "a whole number from 0 to 4294967295";
const BAD_NUMBERS: &[&str] = &["-1", "4294967296", "1.5", "4.0", "", "five", "1e3", "1_0", "5s"];
const TIME: &str = "a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms";
const BAD_TIMES: &[&str] = &["5", "-1s", "1 parsec", "", "1.5s", "1m 30s", " 5s", "none", "unlimited"];

fn number(key: &'static str, good: Vec<(Value, Check)>) -> Row {
    Row { key, good, bad: BAD_NUMBERS, expected: NUMBER }
}

fn time(key: &'static str, good: Vec<(Value, Check)>) -> Row {
    Row { key, good, bad: BAD_TIMES, expected: TIME }
}

fn rate(key: &'static str, good: Vec<(Value, Check)>) -> Row {
    let bad = &["0", "-1", "0.0009", "NaN", "inf", "1e999", "", "fast", "100/s"];
    Row { key, good, bad, expected: "a number of sends per second of at least 0.001" }
}

#[expect(clippy::too_many_lines, reason = "it is a table")]
fn rows() -> Vec<Row> {
    vec![
        Row {
            key: "preset",
            good: vec![
                (json!("default"), |s| s.settings() == StandardRetryStrategy::new().settings()),
                (json!("aws_2_0"), |s| s.settings() == StandardRetryStrategy::aws_2_0().settings()),
                (json!("aws_2_1"), |s| s.settings() == StandardRetryStrategy::aws_2_1().settings()),
            ],
            bad: &["aws", "", "AWS_2_1", "2.1", "true"],
            expected: "default, aws_2_0 or aws_2_1",
        },
        Row {
            key: "mode",
            good: vec![
                (json!("standard"), |s| s.mode() == RetryMode::Standard),
                (json!(" Legacy "), |s| s.mode() == RetryMode::Standard),
                (json!("adaptive"), |s| s.mode() == RetryMode::Adaptive),
                (json!("Paced "), |s| s.mode() == RetryMode::Paced),
                (json!("OFF"), |s| s.mode() == RetryMode::Off && !s.is_enabled()),
            ],
            bad: &["fast", "", "on", "disabled", "pace"],
            expected: "standard, adaptive, paced or off",
        },
        Row {
            key: "max_attempts",
            good: vec![
                (json!(1), |s| s.settings().max_attempts == 1),
                (json!(" 3 "), |s| s.settings().max_attempts == 3),
                (json!(u32::MAX), |s| s.settings().max_attempts == u32::MAX),
            ],
            bad: &["0", "-1", "4294967296", "1.5", "4.0", "3abc", "1e9999", ""],
            expected: "a whole number from 1 to 4294967295, since it counts the first attempt too",
        },
        Row {
            key: "max_retry_after",
            good: vec![
                (json!("0s"), |s| s.settings().max_retry_after == Some(secs(0))),
                (json!("2m"), |s| s.settings().max_retry_after == Some(secs(120))),
                (json!("unlimited"), |s| s.settings().max_retry_after.is_none()),
            ],
            bad: &["5", "none", "Unlimited", "", "-1s", "2min"],
            expected: "unlimited, or a whole number and its unit, ns, us, ms, s, m or h, such as 1500ms",
        },
        Row {
            key: "hint_replaces_backoff",
            good: vec![
                (json!(true), |s| s.settings().hint_replaces_backoff),
                (json!("false"), |s| !s.settings().hint_replaces_backoff),
            ],
            bad: &["yes", "1", "", "True"],
            expected: "true or false",
        },
        Row {
            key: "hint_limit",
            good: vec![
                (json!("unlimited"), |s| s.settings().hint_limit == HintLimit::Unlimited),
                (json!("max_backoff"), |s| s.settings().hint_limit == HintLimit::MaxBackoff),
            ],
            bad: &["5s", "none", "", "beyond_backoff"],
            expected: "unlimited, max_backoff or a group with the key beyond_backoff",
        },
        time(
            "hint_limit.beyond_backoff",
            vec![(json!("5s"), |s| s.settings().hint_limit == HintLimit::BeyondBackoff(secs(5)))],
        ),
        number(
            "hint_jitter.percent",
            vec![
                (json!(25), |s| s.settings().hint_jitter == HintJitter::new(25, secs(5))),
                (json!("0"), |s| s.settings().hint_jitter.most(secs(100)).is_zero()),
            ],
        ),
        time(
            "hint_jitter.at_most",
            vec![
                (json!("9s"), |s| s.settings().hint_jitter == HintJitter::new(10, secs(9))),
                (json!("0s"), |s| s.settings().hint_jitter.most(secs(100)).is_zero()),
            ],
        ),
        time(
            "backoff.base",
            vec![
                (json!("7ms"), |s| s.backoff_strategy().base(RetryErrorType::Other) == millis(7)),
                (json!("30s"), |s| s.backoff_strategy().base(RetryErrorType::Other) == secs(20)), // the cap
                (json!("7ms"), |s| s.backoff_strategy().base(RetryErrorType::Conflict) == millis(7)),
            ],
        ),
        time(
            "backoff.cap",
            vec![
                (json!("1h"), |s| s.backoff_strategy().cap() == secs(3600)),
                (json!("5ms"), |s| s.backoff_strategy().base(RetryErrorType::Other) == millis(5)), // below the base
            ],
        ),
        time(
            "backoff.throttling_base",
            vec![(json!("1500ms"), |s| s.backoff_strategy().base(RetryErrorType::Throttling) == millis(1500))],
        ),
        time(
            "backoff.conflict_base",
            vec![
                (json!("33ms"), |s| s.backoff_strategy().base(RetryErrorType::Conflict) == millis(33)),
                (json!("9s"), |s| s.backoff_strategy().base(RetryErrorType::Conflict) == secs(1)), // above the base
            ],
        ),
        Row {
            key: "backoff.jitter",
            good: vec![
                (json!("full"), |s| s.backoff_strategy().jitter_setting() == Jitter::Full),
                (json!("equal"), |s| s.backoff_strategy().jitter_setting() == Jitter::Equal),
                (json!("none"), |s| s.backoff_strategy().jitter_setting() == Jitter::None),
                (json!(0.25), |s| s.backoff_strategy().jitter_setting() == Jitter::Fixed(0.25)),
                (json!(1), |s| s.backoff_strategy().jitter_setting() == Jitter::Fixed(1.0)),
            ],
            bad: &["some", "", "-0.1", "1.01", "NaN", "inf", "Full"],
            expected: "full, equal, none or a factor from 0 to 1",
        },
        Row {
            key: "quota.kind",
            good: vec![
                (json!("bucket"), |s| s.evidence_quota().is_none()),
                (json!("evidence"), |s| s.evidence_quota().is_some()),
            ],
            bad: &["", "Evidence", "token bucket", "none"],
            expected: "bucket or evidence",
        },
        number(
            "quota.capacity",
            vec![(json!(0), |s| s.quota().capacity() == 0), (json!("1000"), |s| s.quota().capacity() == 1000)],
        ),
        number("quota.refill.amount", vec![(json!(10), |s| s.quota().refill_setting() == Some((10, secs(1))))]),
        Row {
            key: "quota.refill.every",
            good: vec![(json!("1s"), |s| s.quota().refill_setting() == Some((10, secs(1))))],
            bad: &["0s", "0h", "5", "", "-1s", "day"],
            expected: "a whole number above 0 and its unit, ns, us, ms, s, m or h, such as 1500ms",
        },
        number("quota.costs.throttling", vec![(json!(9), |s| s.settings().costs.of(RetryErrorType::Throttling) == 9)]),
        number("quota.costs.timeout", vec![(json!(9), |s| s.settings().costs.of(RetryErrorType::Timeout) == 9)]),
        number("quota.costs.conflict", vec![(json!(9), |s| s.settings().costs.of(RetryErrorType::Conflict) == 9)]),
        number(
            "quota.costs.other",
            vec![(json!(9), |s| {
                let costs = s.settings().costs;
                let others = [RetryErrorType::Other, RetryErrorType::ServerSide, RetryErrorType::ClientSide];
                others.iter().all(|class| costs.of(*class) == 9) && costs.of(RetryErrorType::Conflict) == 0
            })],
        ),
        number("quota.refunds.first_attempt", vec![(json!(3), |s| s.settings().first_refund == 3)]),
        Row {
            key: "quota.refunds.after_retry",
            good: vec![
                (json!(4), |s| s.settings().retry_refund == Refund::Amount(4)),
                (json!("last_cost"), |s| s.settings().retry_refund == Refund::LastCost),
            ],
            bad: &["-1", "cost", "", "1.5", "4294967296"],
            expected: "last_cost or a whole number up to 4294967295",
        },
        Row {
            key: "paced.ramp",
            good: vec![(json!(false), |s| !s.paced_ramp()), (json!("true"), ConfiguredStrategy::paced_ramp)],
            bad: &["yes", "on", "", "1", "True", "off"],
            expected: "true or false",
        },
        time(
            "paced.max_throttled_time",
            vec![
                (json!("7s"), |s| s.paced_max_throttled_time() == secs(7)),
                (json!("0s"), |s| s.paced_max_throttled_time().is_zero()),
            ],
        ),
        Row {
            key: "paced.rejections",
            good: vec![
                (json!("throttling"), |s| s.paced_rejections() == Rejections::Throttling),
                (json!("server_errors"), |s| s.paced_rejections() == Rejections::ServerErrors),
                (json!("timeouts"), |s| s.paced_rejections() == Rejections::Timeouts),
            ],
            bad: &["", "503", "server errors", "Throttling"],
            expected: "throttling, server_errors or timeouts",
        },
        rate(
            "paced.max_rate",
            vec![
                (json!(100), |s| s.paced_max_rate() == Some(100.0)),
                (json!("0.5"), |s| s.paced_max_rate() == Some(0.5)),
            ],
        ),
        number("paced.burst", vec![(json!(200), |s| s.paced_burst() == 200), (json!("0"), |s| s.paced_burst() == 0)]),
        rate("paced.initial_rate", vec![(json!(12.5), |s| s.paced_initial_rate() == Some(12.5))]),
    ]
}

/// Nests a value under the path of its key.
fn document(key: &str, value: Value) -> Value {
    key.rsplit('.').fold(value, |inner, name| json!({ name: inner }))
}

fn from_file(key: &str, value: Value) -> Result<RetryConfig, retry_config::ConfigError> {
    let mut document = document(key, value);
    // A refill needs both of its keys.
    if let Some(refill) = document.pointer_mut("/quota/refill") {
        refill.as_object_mut().unwrap().entry("amount").or_insert(json!(10));
        refill.as_object_mut().unwrap().entry("every").or_insert(json!("1s"));
    }
    let toml = toml::to_string(&json!({ "store": document })).unwrap();
    let from_toml = RetryConfig::from_file_section("settings", "store", toml::Deserializer::parse(&toml).unwrap());
    let from_json = RetryConfig::from_file_section("settings", "", document);
    assert_eq!(from_toml.as_ref().ok(), from_json.as_ref().ok());
    from_toml
}

fn from_variable(key: &str, value: &str) -> Result<RetryConfig, retry_config::ConfigError> {
    let name = |key: &str| format!("STORE_RETRY_{}", key.to_uppercase().replace('.', "_"));
    let mut variables = vec![(name(key), value)];
    if key.starts_with("quota.refill") {
        let (other, value) =
            if key.ends_with("every") { ("quota.refill.amount", "10") } else { ("quota.refill.every", "1s") };
        variables.push((name(other), value));
    }
    RetryConfig::from_prefixed_variables("STORE_RETRY_", variables)
}

// Rules C1, C17.
#[test]
fn each_key_sets_its_setting_from_a_file_and_from_a_variable() {
    for Row { key, good, .. } in rows() {
        for (value, check) in good {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let config = from_file(key, value).unwrap();
            // The settings of the mode `paced` need a mode, and the burst its limit.
            let effective = if key.starts_with("paced.") {
                RetryConfig::new().mode(RetryMode::Paced).try_paced_max_rate(1e6).unwrap()
            } else {
                RetryConfig::new()
            };
            let effective = config.clone().or(effective);
            assert!(check(&effective.build_on(StandardRetryStrategy::new()).unwrap()), "{key} = {text}");
            let read = RetryConfig::new().or(config.clone());
            assert!(read.entries().any(|(read, _)| read == key), "{key} can be read back");
            let written = read.entries().map(|(key, value)| (key.to_uppercase().replace('.', "_"), value));
            assert_eq!(RetryConfig::from_prefixed_variables("", written).unwrap(), config, "{key} = {text} is written");
            assert_eq!(from_variable(key, &text).unwrap(), config, "{key} = {text}");
            // A running strategy takes the same settings, except another kind of quota.
            if text == "evidence" {
                continue;
            }
            let strategy = ConfiguredStrategy::default();
            strategy.apply(&effective, &retry_core::TokioTimer).unwrap();
            assert!(check(&strategy), "{key} = {text}");
            strategy.apply(&RetryConfig::new(), &retry_core::TokioTimer).unwrap();
            assert_eq!(strategy.settings(), StandardRetryStrategy::new().settings());
            assert_eq!((strategy.quota().capacity(), strategy.quota().refill_setting()), (500, None));
            assert_eq!(strategy.mode(), RetryMode::Standard);
            assert_eq!((strategy.paced_ramp(), strategy.paced_max_throttled_time()), (true, secs(300)));
            assert_eq!(strategy.paced_rejections(), Rejections::Throttling);
            assert_eq!((strategy.paced_max_rate(), strategy.paced_initial_rate()), (None, None));
            assert_eq!(strategy.paced_burst(), 1);
        }
    }
}

// Rules C6, C17.
#[test]
fn each_bad_value_is_an_error_that_names_source_key_value_and_what_is_expected() {
    for Row { key, bad, expected, .. } in rows() {
        for value in bad {
            let error = from_file(key, json!(value)).unwrap_err();
            let message = format!(r#"file "settings": invalid store.{key} {value:?}: expected {expected}"#);
            assert_eq!(error.to_string(), message);
            assert_eq!(error.key(), Some(format!("store.{key}")));
            if value.is_empty() {
                continue; // An empty variable is treated as not set.
            }
            let name = key.to_uppercase().replace('.', "_");
            assert_eq!(
                from_variable(key, value).unwrap_err().to_string(),
                format!("environment variable STORE_RETRY_{name}: invalid {key} {value:?}: expected {expected}")
            );
        }
        for (value, shown) in [(json!(true), "true"), (json!([1]), "a list")] {
            if expected.starts_with(shown) {
                continue;
            }
            let error = from_file(key, value).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!(r#"file "settings": invalid store.{key} {shown:?}: expected {expected}"#)
            );
        }
    }
}

// Rule C18.
#[test]
fn durations_are_read_as_the_table_says() {
    for row in include_str!("../../vectors/durations.txt").lines().filter(|row| !row.starts_with('#')) {
        let (text, nanos) = row.rsplit_once(' ').unwrap();
        let text = text.trim_matches('"');
        let read = from_file("backoff.base", json!(text)).ok().and_then(|config| config.base_setting());
        assert_eq!(read.map(|time| time.as_nanos()), nanos.parse().ok(), "{row}");
    }
}

#[test]
fn a_setter_refuses_what_a_file_refuses() {
    for factor in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
        let error = RetryConfig::new().try_jitter(Jitter::Fixed(factor)).unwrap_err();
        assert_eq!(error.key().as_deref(), Some("jitter"));
    }
    for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = RetryConfig::new().try_paced_max_rate(rate).unwrap_err();
        assert_eq!(error.key().as_deref(), Some("paced.max_rate"));
        let error = RetryConfig::new().try_paced_initial_rate(rate).unwrap_err();
        assert_eq!(error.key().as_deref(), Some("paced.initial_rate"));
    }
    assert!(RetryConfig::new().try_quota_refill(1, secs(0)).is_err());
    let one = RetryConfig::new().try_quota_refill(1, secs(1)).unwrap();
    assert_eq!(one.quota_refill_setting(), Some((1, secs(1))));
}

// Rule C17.
#[test]
fn variables_with_the_prefix_must_be_known_and_others_are_ignored() {
    let read = |set: &[(&str, &str)]| RetryConfig::from_prefixed_variables("STORE_", set.iter().copied());
    assert_eq!(
        read(&[("HOME", "/"), ("STORES", "1"), ("store_mode", "off"), ("STORE_MODE", "")]).unwrap(),
        RetryConfig::new()
    );
    for (name, suggestion) in [
        ("STORE_MAX_ATEMPTS", Some("STORE_MAX_ATTEMPTS")),
        ("STORE_BACKOFF_CAPP", Some("STORE_BACKOFF_CAP")),
        ("STORE_PACED_RAMPS", Some("STORE_PACED_RAMP")),
        ("STORE_PACE_MAX_THROTTLED", Some("STORE_PACED_MAX_THROTTLED_TIME")),
        ("STORE_BASE", Some("STORE_BACKOFF_BASE")),
        ("STORE_CAPACITY", Some("STORE_QUOTA_CAPACITY")),
        ("STORE_REFILL_EVERY", Some("STORE_QUOTA_REFILL_EVERY")),
        ("STORE_BACKOFF", None),
        ("STORE_COLOUR_OF_IT", None),
    ] {
        let error = read(&[(name, "1")]).unwrap_err();
        assert_eq!((error.key().as_deref(), error.suggestion().as_deref()), (Some(name), suggestion));
        assert!(
            error.to_string().starts_with(&format!("environment variable {name}: unknown key {name}: ")),
            "{error}"
        );
    }
    let group = read(&[("STORE_QUOTA_REFILL", "1")]).unwrap_err().to_string();
    assert!(group.ends_with("expected one of QUOTA_REFILL_AMOUNT, QUOTA_REFILL_EVERY after STORE_"), "{group}");
    let unlike = read(&[("STORE_COLOUR_OF_IT", "1")]).unwrap_err().to_string();
    assert!(unlike.contains("expected one of PRESET, MODE, ") && unlike.ends_with(" after STORE_"), "{unlike}");
    let half = read(&[("STORE_QUOTA_REFILL_AMOUNT", "1")]).unwrap_err().to_string();
    assert_eq!(
        half,
        "environment variable STORE_QUOTA_REFILL_EVERY: the key quota.refill.every is missing: write it beside the other one"
    );
    let unfit = read(&[("STORE_QUOTA_KIND", "evidence"), ("STORE_QUOTA_CAPACITY", "5")]).unwrap_err().to_string();
    assert_eq!(
        unfit,
        "environment variable STORE_QUOTA_CAPACITY: the key quota.capacity \"5\" can't be set: a quota by evidence has no such setting"
    );
    assert_eq!(read(&[("STORE_MODE", "off")]).unwrap().mode_setting(), Some(RetryMode::Off));
}

// Rule C4.
#[test]
fn paced_and_off_are_no_modes_in_the_environment_and_the_files_of_aws() {
    for mode in ["off", "paced"] {
        assert!(mode.parse::<RetryMode>().is_err());
        let variable = |name: &str| (name == "AWS_RETRY_MODE").then(|| mode.into());
        let error = RetryConfig::new().or_variables(variable).unwrap_err().to_string();
        let invalid = format!(r#"invalid retry_mode "{mode}": expected standard, adaptive or legacy"#);
        assert_eq!(error, format!("environment variable AWS_RETRY_MODE: {invalid}"));
        let text = format!("[default]\nretry_mode = {mode}");
        let file = RetryConfig::new().or_profile("default", std::path::Path::new("f"), &text);
        assert!(file.unwrap_err().to_string().ends_with(&invalid));
    }
}

#[test]
fn a_preset_keeps_the_seed_of_the_strategy_that_it_is_built_on() {
    let delays = |seed| {
        let config: RetryConfig = serde_json::from_value(json!({ "preset": "aws_2_1" })).unwrap();
        let backoff = config.build_on(StandardRetryStrategy::new().seed(seed)).unwrap().backoff_strategy();
        let delay = |retry| backoff.compute_next_backoff_delay(retry, RetryErrorType::ServerSide);
        [delay(0), delay(1), delay(2)]
    };
    assert_eq!(delays(7), delays(7));
    assert_ne!(delays(7), delays(8));
}

// Rules C10, L7.
#[test]
fn the_error_of_the_number_of_throttled_attempts_names_the_time_that_came_in_its_place() {
    let document = toml::Deserializer::parse("[store]\npaced.max_throttled = 20").unwrap();
    let error = RetryConfig::from_file_section("settings.toml", "store", document).unwrap_err();
    let expected = "unknown key store.paced.max_throttled: did you mean store.paced.max_throttled_time?";
    assert!(error.to_string().ends_with(expected), "{error}");
}
