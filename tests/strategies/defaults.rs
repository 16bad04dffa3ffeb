//! Parts that are created in two ways, which are the same, and what parts say about themselves.

use crate::support::{millis, secs};
use retry_config::{ConfiguredStrategy, RetryConfig};
use retry_core::backoff::{ConstantBackoff, LinearBackoff};
use retry_core::limit::AdaptiveLimiter;
use retry_core::observe::metrics::MetricsObserver;
use retry_core::quota::{EvidenceQuota, NoQuota, QuotaMode};
use retry_core::strategy::{AdaptiveRetryStrategy, StandardRetrySettings};
use retry_core::test::FindingKind;
use retry_core::{
    ErasedStrategy, Failure, RetryDirective, RetryError, RetryErrorType, RetryQuota, RetryStrategy,
    StandardRetryStrategy, TokenBucket, TokioTimer, policy_fn,
};
use retry_limits::{ConcurrencyLimiter, ConcurrencyRetryStrategy, PacedLimiter, PacedRetryStrategy, Rejections};
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

/// All settings are visible in the debug output.
fn assert_same(one: &impl Debug, other: &impl Debug) {
    assert_eq!(format!("{one:#?}"), format!("{other:#?}"));
}

#[test]
fn a_default_is_what_new_creates() {
    assert_same(&StandardRetryStrategy::default(), &StandardRetryStrategy::new());
    assert_same(&AdaptiveRetryStrategy::default(), &AdaptiveRetryStrategy::new());
    assert_same(&ConcurrencyRetryStrategy::default(), &ConcurrencyRetryStrategy::new());
    assert_same(&PacedRetryStrategy::default(), &PacedRetryStrategy::new());
    assert_same(&AdaptiveLimiter::default(), &AdaptiveLimiter::new());
    assert_same(&ConcurrencyLimiter::default(), &ConcurrencyLimiter::new());
    assert_same(&PacedLimiter::default(), &PacedLimiter::new());
    assert_same(&EvidenceQuota::default(), &EvidenceQuota::new());
    assert_same(&MetricsObserver::default(), &MetricsObserver::new());
    assert_eq!(StandardRetrySettings::default(), StandardRetrySettings::new());
}

#[test]
fn a_setting_of_a_limiter_is_the_same_in_its_strategy() {
    for rejections in [Rejections::Throttling, Rejections::ServerErrors] {
        let limiter = PacedLimiter::new().rejections(rejections).max_throttled_time(secs(7));
        let strategy = PacedRetryStrategy::new().rejections(rejections).max_throttled_time(secs(7));
        assert_same(&PacedRetryStrategy::with_limiter(StandardRetryStrategy::new(), limiter), &strategy);
    }
    let standard = || StandardRetryStrategy::new().max_attempts(3);
    let limited = ConcurrencyRetryStrategy::with_limiter(standard(), ConcurrencyLimiter::new());
    assert_same(&ConcurrencyRetryStrategy::over(standard()), &limited);
}

#[test]
fn a_period_of_a_refill_is_checked() {
    let refilled = StandardRetryStrategy::new().try_quota_refill(10, secs(2)).unwrap();
    assert_same(&refilled, &StandardRetryStrategy::new().quota_refill(10, secs(2)));
    assert!(StandardRetryStrategy::new().try_quota_refill(10, Duration::ZERO).is_err());
}

#[test]
fn a_backoff_has_its_settings() {
    assert_eq!(ConstantBackoff::new(millis(250)).delay(), millis(250));
    let linear = LinearBackoff::new(millis(100), secs(2));
    assert_eq!((linear.step(), linear.cap()), (millis(100), secs(2)));
}

// Rule Q11.
#[test]
fn a_quota_by_evidence_pays_for_one_retry_whatever_the_cost() {
    let quota = EvidenceQuota::new();
    let before = quota.available();
    assert!(quota.try_acquire(1000, &TokioTimer));
    assert_eq!(quota.available(), before - 1);
}

#[test]
fn no_quota_is_always_full() {
    assert!(NoQuota.try_acquire(u32::MAX, &TokioTimer) && NoQuota.is_full());
    assert_eq!(NoQuota.available(), u32::MAX);
}

// Rules Q9, R16.
#[test]
fn a_strategy_without_a_quota_has_no_level() {
    let unlimited = || StandardRetryStrategy::new().with_quota(NoQuota);
    assert_eq!(unlimited().quota_level(), None);
    assert_eq!(PacedRetryStrategy::over(unlimited()).quota_level(), None);
    assert_eq!(ErasedStrategy::new(unlimited()).quota_level(), None);
    assert_eq!(RetryConfig::new().build_on(unlimited()).unwrap().quota_level(), None);
    let pointer = |quota: Arc<dyn RetryQuota>| StandardRetryStrategy::new().with_quota(quota);
    assert_eq!(pointer(Arc::new(NoQuota)).quota_level(), None);
    assert_eq!(pointer(Arc::new(TokenBucket::new(u32::MAX))).quota_level(), Some(u32::MAX));
    assert_eq!(ConfiguredStrategy::default().quota_level(), Some(500));
}

#[test]
fn a_function_as_a_policy_is_printed_without_the_function() {
    let policy = policy_fn(|_: &Result<(), ()>| RetryDirective::succeed());
    assert_eq!(format!("{policy:?}"), "PolicyFn { .. }");
}

#[test]
fn a_success_has_neither_a_class_nor_a_wait() {
    let success = RetryDirective::succeed().after(Some(millis(1)));
    assert_eq!(success, RetryDirective::succeed());
    let failure = Failure::from_directive(success);
    assert_eq!((failure.is_retryable(), failure.error_type(), failure.retry_after()), (false, None, None));
}

#[test]
fn classes_reasons_and_modes_have_names_and_texts() {
    use RetryErrorType::{ClientSide, Conflict, Other, ServerSide, Throttling, Timeout, Unknown};

    let classes = [Throttling, Timeout, Conflict, ServerSide, ClientSide, Other, Unknown];
    let names = ["throttling", "timeout", "conflict", "server_side", "client_side", "other", "unknown"];
    assert_eq!(classes.map(|class| class.to_string()), names);

    let modes = [QuotaMode::Full, QuotaMode::Spending, QuotaMode::Congested, QuotaMode::Exhausted];
    assert_eq!(modes.map(QuotaMode::as_str), ["full", "spending", "congested", "exhausted"]);
    assert!(modes.is_sorted(), "later ones are more severe");

    let reasons = [
        (RetryError::NotRetryable, "not_retryable", "the failure is not retryable"),
        (RetryError::NotRepeatable, "not_repeatable", "the request can't be sent again"),
        (RetryError::Disabled, "disabled", "retries are switched off"),
        (RetryError::MaxAttempts, "max_attempts", "all attempts were made"),
        (RetryError::Stopped, "stopped", "the operation was stopped"),
        (RetryError::GivenUp, "given_up", "the program gave up"),
        (RetryError::QuotaExhausted, "quota_exhausted", "the retry quota can't pay for the retry"),
        (RetryError::ForeignToken, "foreign_token", "the token was issued by another strategy"),
        (RetryError::Refused, "refused", "the strategy refused"),
    ];
    for (reason, name, text) in reasons {
        assert_eq!((reason.as_str(), reason.to_string()), (name, text.to_owned()));
    }
}

#[test]
fn each_kind_of_finding_says_what_is_wrong() {
    let kinds = [
        (FindingKind::Breaks, "the test fails after a retry"),
        (FindingKind::Differs, "the result differs after a retry"),
        (FindingKind::Invariant, "an invariant does not hold"),
        (FindingKind::Hangs, "the test hangs"),
        (FindingKind::NeverGivesUp, "the test never gives up"),
        (FindingKind::Repeats, "a request that is not idempotent is repeated"),
        (FindingKind::Multiplies, "retries multiply"),
    ];
    for (kind, text) in kinds {
        assert_eq!(kind.to_string(), text);
    }
}
