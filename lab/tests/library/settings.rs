use lab::settings::{drain_rate, drift, report};
use retry_config::{RetryConfig, RetryMode};
use retry_core::RetryErrorType::{Conflict, ServerSide, Throttling, Timeout};
use retry_core::StandardRetryStrategy;
use retry_core::strategy::StandardRetrySettings;
use serde_json::Value;
use std::time::Duration;

#[test]
fn the_quota_of_each_preset_drains_from_its_rate() {
    let percent = |settings, class| drain_rate(&settings, class).map(|rate| (rate * 1000.0).round() / 10.0);
    assert_eq!(percent(StandardRetrySettings::new(), ServerSide), Some(16.7));
    assert_eq!(percent(StandardRetrySettings::aws_2_0(), ServerSide), Some(32.1));
    assert_eq!(percent(StandardRetrySettings::aws_2_1(), ServerSide), Some(21.5));
    assert_eq!(percent(StandardRetrySettings::aws_2_1(), Throttling), Some(32.1));
    assert_eq!(percent(StandardRetrySettings::new(), Conflict), None, "conflicts cost nothing");
}

#[test]
fn the_drift_is_that_of_the_formula_for_three_attempts() {
    let settings = StandardRetrySettings::aws_2_1();
    for p in [0.0, 0.1, 0.215, 0.321, 0.7, 1.0] {
        for (class, cost) in [(Throttling, 5.0), (ServerSide, 14.0)] {
            let formula = (1.0 - p) - cost * p * p * (1.0 + p);
            assert!((drift(&settings, class, p) - formula).abs() < 1e-12, "{p}");
        }
    }
}

#[test]
fn the_bounds_are_sums() {
    let config = RetryConfig::new().try_max_attempts(4).unwrap();
    let config = config.backoff(Duration::from_millis(100), Duration::from_millis(300)).quota_capacity(50);
    let report = report(Value::Null, &config, Some(Duration::from_secs(2))).unwrap();
    let bounds = report.table("bounds").unwrap();
    let value = |class, measure| bounds.value(&[class], measure).unwrap().mid;
    assert_eq!(value("other", "attempts, at most"), Some(4.0));
    assert_eq!(value("other", "waits end after, s"), Some(0.6));
    assert_eq!(value("conflict", "waits end after, s"), Some(0.14));
    assert_eq!(value("other", "waits that the server asks for end after, s"), Some(915.0));
    assert_eq!(value("other", "operation ends after, s"), Some(923.0));
    assert_eq!(value("timeout", "full quota is empty after retries"), Some(5.0));
    assert_eq!(value("conflict", "full quota is empty after retries"), None);
    let schedule = report.table("schedule").unwrap();
    let median = schedule.value(&["other", "2"], "p50, s").unwrap().mid.unwrap();
    assert!((median - 0.1).abs() < 0.003, "half of 200 ms, {median}");
}

#[test]
fn throttled_attempts_of_the_mode_paced_have_bounds_of_their_own() {
    let config = RetryConfig::new().mode(RetryMode::Paced).paced_max_throttled_time(Duration::from_secs(90));
    let report = report(Value::Null, &config, Some(Duration::from_secs(2))).unwrap();
    let bounds = report.table("bounds").unwrap();
    let value = |class, measure| bounds.value(&[class], measure).unwrap().mid;
    assert_eq!(value("throttling", "attempts, at most"), None);
    assert_eq!(value("throttling", "waits end after, s"), Some(90.0));
    assert_eq!(value("throttling", "waits that the server asks for end after, s"), Some(90.0 + 2.0 * 305.0));
    assert_eq!(value("throttling", "operation ends after, s"), None);
    assert_eq!(value("throttling", "full quota is empty after retries"), None);
    assert_eq!(value("throttling", "quota drains above failures of, %"), None);
    assert_eq!(value("other", "attempts, at most"), Some(5.0));
    assert!(report.table("schedule").unwrap().rows.iter().all(|row| row.keys[0] != "throttling"));
}

#[test]
fn settings_without_limits_have_no_bounds_and_no_overflow() {
    let config = RetryConfig::new().try_max_attempts(u32::MAX).unwrap().max_retry_after(None);
    let report = report(Value::Null, &config.backoff(Duration::MAX, Duration::MAX), Some(Duration::MAX)).unwrap();
    let bounds = report.table("bounds").unwrap();
    assert_eq!(bounds.value(&["timeout"], "waits end after, s").unwrap().mid, None);
    assert_eq!(report.table("schedule").unwrap().rows.len(), 40);
    let settings = StandardRetryStrategy::new().max_attempts(u32::MAX).settings();
    assert!(drift(&settings, Timeout, 0.999).is_finite());
}

#[test]
fn settings_that_have_no_effect_together_are_an_error() {
    let config = RetryConfig::new().mode(RetryMode::Standard).try_paced_max_rate(10.0).unwrap();
    let error = report(Value::Null, &config, None).unwrap_err().to_string();
    assert!(error.contains("max_rate"), "{error}");
}
