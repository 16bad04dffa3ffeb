//! Quotas whose kind a configuration chooses.

use super::CLOCK;
use crate::support::{ByHand, Failed, secs};
use retry_config::{ConfigError, ConfigSource, ConfiguredStrategy, QuotaKind, RetryConfig};
use retry_core::quota::{EvidenceQuota, NoQuota, QuotaMode};
use retry_core::{Failure, RetryQuota, RetryStrategy, StandardRetryStrategy, Success, TokenBucket};
use std::sync::Arc;

fn read(quota: &str) -> Result<RetryConfig, ConfigError> {
    let text = format!("[store.quota]\n{quota}");
    RetryConfig::from_file_section("settings.toml", "store", toml::Deserializer::parse(&text).unwrap())
}

fn evidence() -> RetryConfig {
    read("kind = 'evidence'").unwrap()
}

/// Returns the level of the quota after each of these attempts of one operation each: whether it succeeded.
fn levels(strategy: &impl RetryStrategy, outcomes: &[bool]) -> Vec<Option<u32>> {
    let clock = ByHand::at(secs(100));
    let attempt = |is_success: &bool| {
        let token = strategy.acquire_initial_token(&clock).unwrap();
        if *is_success {
            strategy.record_success(token, &Success::default(), &clock).unwrap();
        } else {
            let _ = strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &clock);
        }
        strategy.quota_level()
    };
    outcomes.iter().map(attempt).collect()
}

// Rules C26, Q12.
#[test]
fn a_file_can_choose_a_quota_by_evidence_in_place_of_the_bucket_that_nobody_chose() {
    let mut outcomes = vec![true; 40];
    outcomes.extend([false; 40]);
    outcomes.extend([true; 100]);
    let expected = levels(&StandardRetryStrategy::new().with_quota(EvidenceQuota::new()), &outcomes);
    assert_ne!(expected, levels(&StandardRetryStrategy::new(), &outcomes), "the buckets differ");
    assert_eq!(levels(&evidence().build_on(StandardRetryStrategy::new()).unwrap(), &outcomes), expected);
    let capacity = StandardRetryStrategy::new().quota_capacity(20);
    assert_eq!(levels(&evidence().build_on(capacity).unwrap(), &outcomes), expected);
    // A preset is a matter of the settings.
    let preset = RetryConfig::from_prefixed_variables("", [("PRESET", "aws_2_1"), ("QUOTA_KIND", "evidence")]).unwrap();
    assert_eq!(levels(&preset.build_on(StandardRetryStrategy::new()).unwrap(), &outcomes), expected);
}

fn check(error: &ConfigError, key: &str, message: &str) {
    assert_eq!(error.to_string(), message);
    assert_eq!(error.key().as_deref(), Some(key));
    assert_eq!(error.found_in(), &ConfigSource::File("settings.toml".into()));
}

// Rule C26.
#[test]
fn a_quota_of_the_code_stays_and_a_kind_is_an_error() {
    let error = evidence().build_on(StandardRetryStrategy::new().with_quota(NoQuota)).unwrap_err();
    let what = "the key store.quota.kind \"evidence\" can't be set: only a TokenBucket that is not behind a pointer can be replaced";
    check(&error, "store.quota.kind", &format!("file \"settings.toml\": {what}"));
    assert_eq!(error.part(), Some("quota"));
    let error = evidence().build_on(StandardRetryStrategy::new().with_quota(EvidenceQuota::new())).unwrap_err();
    assert_eq!(error.part(), Some("quota"));
}

// Rule C26.
#[test]
fn a_quota_by_evidence_has_no_other_setting_than_the_cost_of_conflicts() {
    for (key, value, shown) in [
        ("capacity", "9", "9"),
        ("refill", "{ amount = 9, every = '1s' }", "9"),
        ("costs.throttling", "9", "9"),
        ("costs.timeout", "9", "9"),
        ("costs.other", "9", "9"),
        ("refunds.first_attempt", "9", "9"),
        ("refunds.after_retry", "'last_cost'", "last_cost"),
    ] {
        let error = read(&format!("kind = 'evidence'\n{key} = {value}")).unwrap_err();
        let key = if key == "refill" { "refill.amount" } else { key };
        let what = format!("the key store.quota.{key} {shown:?} can't be set: a quota by evidence has no such setting");
        check(&error, &format!("store.quota.{key}"), &format!("file \"settings.toml\": {what}"));
        assert_eq!(error.part(), Some("quota"));
    }
    // Two sources that are right by themselves.
    let both = evidence().or(RetryConfig::new().quota_capacity(9));
    let error = both.build_on(StandardRetryStrategy::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "code: the key quota.capacity \"9\" can't be set: a quota by evidence has no such setting"
    );

    let conflicts =
        read("kind = 'evidence'\ncosts.conflict = 5").unwrap().build_on(StandardRetryStrategy::new()).unwrap();
    let free = evidence().build_on(StandardRetryStrategy::new()).unwrap();
    let retries = |strategy: &ConfiguredStrategy| {
        let clock = ByHand::at(secs(100));
        let failure = Failure::of(&Failed::CONFLICT);
        let retry = |_: &u32| {
            clock.advance(secs(1));
            let token = strategy.acquire_initial_token(&clock).unwrap();
            strategy.refresh_retry_token(token, &failure, &clock).is_ok()
        };
        (0..100).filter(retry).count()
    };
    assert_eq!(retries(&free), 100);
    assert!(retries(&conflicts) < 100);
}

// Rule C26.
#[test]
fn the_kind_stays_while_a_strategy_runs() {
    let bucket = ConfiguredStrategy::default();
    let by_evidence = evidence().build_on(StandardRetryStrategy::new()).unwrap();
    let error = bucket.apply(&evidence(), CLOCK).unwrap_err();
    let expected = "the kind that the strategy was built with, which can't change while it runs";
    check(
        &error,
        "store.quota.kind",
        &format!("file \"settings.toml\": invalid store.quota.kind \"evidence\": expected {expected}"),
    );
    assert!(bucket.evidence_quota().is_none());
    bucket.apply(&read("kind = 'bucket'\ncapacity = 9").unwrap(), CLOCK).unwrap();
    assert_eq!(bucket.quota().capacity(), 9);

    assert!(by_evidence.apply(&RetryConfig::new().quota_kind(QuotaKind::Bucket), CLOCK).is_err());
    assert!(by_evidence.apply(&RetryConfig::new().quota_capacity(9), CLOCK).is_err());
    for config in [evidence(), RetryConfig::new(), read("costs.conflict = 5").unwrap()] {
        by_evidence.apply(&config, CLOCK).unwrap();
        assert!(by_evidence.evidence_quota().is_some());
    }
    assert_eq!(by_evidence.quota_level(), by_evidence.evidence_quota().map(RetryQuota::available));
    assert_eq!((by_evidence.quota_mode(), bucket.quota_mode()), (Some(QuotaMode::Full), None));
    let of_code = RetryConfig::new().build_on(StandardRetryStrategy::new().with_quota(EvidenceQuota::new()));
    assert_eq!(of_code.unwrap().quota_mode(), Some(QuotaMode::Full));
}

/// A step of an operation with a quota.
#[derive(Clone, Copy, Debug)]
enum Step {
    Success,
    Failure,
    NotSent,
    LateSuccess,
    GivenUp,
    Hedge,
}

/// Returns what can be seen of a quota after each step.
fn seen_after(strategy: &impl RetryStrategy, steps: &[Step]) -> Vec<String> {
    let clock = ByHand::at(secs(100));
    let initial = || strategy.acquire_initial_token(&clock).unwrap();
    let failure = Failure::of(&Failed::SAFE);
    let take = |step: &Step| {
        clock.advance(secs(2));
        let retry = || strategy.refresh_retry_token(initial(), &failure, &clock);
        let is_granted = match step {
            Step::Success => strategy.record_success(initial(), &Success::default(), &clock).is_ok(),
            Step::Failure => retry().is_ok(),
            Step::NotSent => retry().is_ok_and(|token| {
                strategy
                    .refresh_retry_token(token, &failure.with_sent(false), &clock)
                    .map(|token| strategy.release(token))
                    .is_ok()
            }),
            Step::LateSuccess => {
                retry().is_ok_and(|token| strategy.record_success(token, &Success::default(), &clock).is_ok())
            }
            Step::GivenUp => retry().map(|token| strategy.release(token)).is_ok(),
            Step::Hedge => strategy
                .acquire_hedge(&initial(), &clock)
                .map(|hedge| strategy.record_success(hedge, &Success::default(), &clock))
                .is_ok(),
        };
        format!("{step:?} {is_granted} {:?} {:?}", strategy.quota_level(), strategy.quota_mode())
    };
    steps.iter().map(take).collect()
}

// Rules C26, Q12, V9.
#[test]
fn a_chosen_quota_does_in_each_step_what_it_does_in_code() {
    use Step::{Failure as Fails, GivenUp, Hedge, LateSuccess, NotSent, Success as Succeeds};
    let mut steps = vec![Succeeds; 40];
    steps.extend([Hedge, Hedge, Fails, LateSuccess, NotSent, GivenUp, Hedge, Fails, NotSent, LateSuccess, Hedge]);
    steps.extend([Fails; 9]);
    steps.extend([LateSuccess, NotSent, GivenUp, Hedge, Succeeds, Succeeds]);
    let by_evidence = seen_after(&StandardRetryStrategy::new().with_quota(EvidenceQuota::new()), &steps);
    assert_eq!(seen_after(&evidence().build_on(StandardRetryStrategy::new()).unwrap(), &steps), by_evidence);
    let bucket = || StandardRetryStrategy::new().quota_capacity(40);
    let by_bucket = seen_after(&bucket(), &steps);
    assert_eq!(seen_after(&RetryConfig::new().build_on(bucket()).unwrap(), &steps), by_bucket);
    let shared =
        RetryConfig::new().build_on(StandardRetryStrategy::new().with_quota(Arc::new(TokenBucket::new(40)))).unwrap();
    assert_eq!(seen_after(&shared, &steps), by_bucket);
    assert_ne!(by_evidence, by_bucket);
    for outcomes in [&by_evidence, &by_bucket] {
        for step in ["Failure", "Hedge"] {
            let granted = |is: bool| outcomes.iter().any(|line| line.starts_with(&format!("{step} {is}")));
            assert!(granted(true) && granted(false), "{step} is granted and refused: {outcomes:?}");
        }
    }
}
