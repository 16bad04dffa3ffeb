//! Switches that turn retries off at run time.

use crate::support::{Failed, Flaky, Recorder, poll_once, run_in_a_process, secs};
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode};
use retry_core::{
    AdaptiveRetryStrategy, ErasedStrategy, Failure, Jitter, RetryError, RetryQuota, RetryStrategy, ScopedRetryStrategy,
    StandardRetryStrategy, TokioTimer, retries_enabled, retry, set_retries_enabled,
};
use std::pin::pin;
use std::sync::Arc;
use tokio::time::advance;

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

/// Calls a service that fails once, and returns the number of attempts and the reason to stop.
async fn attempts<S: RetryStrategy>(strategy: &S) -> (u32, Option<RetryError>) {
    let service = Flaky::new(1, Failed::SAFE);
    let report = retry(strategy, async || service.call()).report().await;
    assert_eq!(report.attempts, service.calls());
    (report.attempts, report.reason)
}

const OFF: (u32, Option<RetryError>) = (1, Some(RetryError::Disabled));
const ON: (u32, Option<RetryError>) = (2, None);

// Rule R14.
#[tokio::test(start_paused = true)]
async fn no_strategy_retries_while_it_is_switched_off() {
    macro_rules! check {
        ($switch:expr, $strategy:expr) => {{
            let (switch, strategy) = ($switch, $strategy);
            assert!(switch.is_enabled());
            assert_eq!(attempts(&strategy).await, ON);
            let quota = strategy.quota_level();
            switch.set_enabled(false);
            assert!(!switch.is_enabled());
            assert_eq!(attempts(&strategy).await, OFF);
            assert_eq!(strategy.quota_level(), quota, "the quota is unchanged");
            switch.set_enabled(true);
            assert_eq!(attempts(&strategy).await, ON);
        }};
    }

    let strategy = standard();
    check!(&strategy, &strategy);
    let strategy = Arc::new(standard());
    check!(Arc::clone(&strategy), strategy);
    let strategy = AdaptiveRetryStrategy::over(standard());
    check!(&strategy, &strategy);
    for mode in [RetryMode::Standard, RetryMode::Adaptive, RetryMode::Paced] {
        let strategy: ConfiguredStrategy =
            RetryConfig::new().mode(mode).build_on(StandardRetryStrategy::new()).unwrap();
        check!(&strategy, &strategy);
    }
    let strategy = ErasedStrategy::new(standard());
    check!(&strategy, strategy.clone());
    let strategy: ScopedRetryStrategy<u32> = ScopedRetryStrategy::new(standard);
    check!(&strategy, strategy.scope(&7));
    check!(strategy.scope(&8), strategy.scope(&8));
}

// Rule R19.
#[tokio::test(start_paused = true)]
async fn the_switch_of_a_map_of_scopes_applies_to_its_later_scopes_but_to_no_other_map() {
    let (one, other) = (ScopedRetryStrategy::<u32>::new(standard), ScopedRetryStrategy::<u32>::new(standard));
    let before = one.scope(&1);
    one.set_enabled(false);
    assert_eq!(attempts(&before).await, OFF);
    assert_eq!(attempts(&one.scope(&2)).await, OFF);
    assert_eq!(attempts(&other.scope(&1)).await, ON);
    one.set_enabled(true);
    assert_eq!(attempts(&one.scope(&2)).await, ON);
    assert_eq!(attempts(&one.scope(&3)).await, ON);
}

// Rule R14.
#[tokio::test(start_paused = true)]
async fn a_retry_that_is_already_waiting_is_sent() {
    let (strategy, service) = (standard(), Flaky::new(2, Failed::SAFE));
    let mut call = pin!(retry(&strategy, async || service.call()).report());
    poll_once(call.as_mut());
    strategy.set_enabled(false);
    advance(secs(1)).await;
    let report = call.await;
    assert_eq!((service.calls(), report.reason), (2, Some(RetryError::Disabled)));
}

// Rule R14.
#[tokio::test(start_paused = true)]
async fn a_limiter_still_learns_while_retries_are_switched_off() {
    let strategy = AdaptiveRetryStrategy::over(standard());
    strategy.set_enabled(false);
    let service = Flaky::new(1, Failed::THROTTLED);
    let report = retry(&strategy, async || service.call()).report().await;
    assert_eq!(report.reason, Some(RetryError::Disabled));
    assert!(strategy.send_rate().is_some(), "the limiter learned from the throttling");
}

// Rule R7.
#[test]
fn the_switch_is_checked_after_retryability_and_before_the_number_of_attempts() {
    let strategy = standard().max_attempts(1);
    let refusal = |failure: &Failure| {
        let token = strategy.acquire_initial_token(&TokioTimer).unwrap();
        strategy.refresh_retry_token(token, failure, &TokioTimer).unwrap_err()
    };
    let (safe, fatal) = (Failure::of(&Failed::SAFE), Failure::of(&Failed::FATAL));
    assert_eq!(refusal(&safe), RetryError::MaxAttempts);
    assert_eq!(refusal(&safe.with_refusal(Some(RetryError::Disabled))), RetryError::Disabled);
    strategy.set_enabled(false);
    assert_eq!(refusal(&safe), RetryError::Disabled);
    assert_eq!(refusal(&fatal), RetryError::NotRetryable);
}

/// Runs an operation with a strategy that ignores the switch, and returns the reason to stop.
async fn reason_despite_a_granted_retry<S: RetryStrategy>(strategy: S) -> Option<RetryError> {
    let report = retry(&strategy, async || Err::<(), _>(Failed::SAFE)).report().await;
    assert_eq!(report.attempts, 1);
    report.reason
}

// Rule R18.
#[tokio::test]
async fn a_retry_that_a_strategy_grants_despite_the_switch_is_released() {
    let scopes: ScopedRetryStrategy<u32, Recorder> = ScopedRetryStrategy::new(Recorder::new);
    scopes.set_enabled(false);
    let scope = scopes.scope(&1);
    assert_eq!(reason_despite_a_granted_retry(scope.clone()).await, Some(RetryError::Disabled));
    assert_eq!(scope.calls(), ["initial", "ready", "refresh", "release"]);
    assert_eq!(scope.last_failure().and_then(|failure| failure.refusal()), Some(RetryError::Disabled));
}

/// The switch of the process would affect other tests, so this test runs in a child process.
#[tokio::test(start_paused = true)]
#[ignore = "started in a child process by the test below"]
async fn child() {
    let (strategy, recorder) = (standard(), Recorder::new());
    assert_eq!(attempts(&strategy).await, ON);
    assert!(retries_enabled());
    set_retries_enabled(false);
    assert!(!retries_enabled());
    let quota = strategy.quota().available();
    assert_eq!(attempts(&strategy).await, OFF);
    assert_eq!(strategy.quota().available(), quota);
    assert!(strategy.is_enabled(), "the switch of the strategy is separate");
    assert_eq!(reason_despite_a_granted_retry(&recorder).await, Some(RetryError::Disabled));
    assert_eq!(recorder.calls(), ["initial", "ready", "refresh", "release"]);
    set_retries_enabled(true);
    assert_eq!(attempts(&strategy).await, ON);
}

// Rules R14, R18, R19.
#[test]
fn the_switch_of_the_process_applies_to_all_strategies_including_custom_ones() {
    run_in_a_process("switch::child", |_| ());
}
