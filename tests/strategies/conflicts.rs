//! Retries after conflicts, which are free, between retries after other failures.

use crate::support::{Failed, by_evidence, millis, secs};
use retry_config::RetryConfig;
use retry_core::backoff::LinearBackoff;
use retry_core::{
    Clock, ErasedStrategy, Failure, Jitter, RetryStrategy, RetryToken, StandardRetryStrategy, TokioTimer,
};
use retry_limits::PacedRetryStrategy;
use std::time::Duration;

const CLOCK: &dyn Clock = &TokioTimer;

/// Returns the delays of the retries after these failures.
fn delays<S: RetryStrategy>(strategy: &S, failures: &[Failed]) -> Vec<Duration> {
    let mut token = strategy.acquire_initial_token(CLOCK).unwrap();
    let mut delays = Vec::new();
    for failure in failures {
        token = strategy.refresh_retry_token(token, &Failure::of(failure), CLOCK).unwrap();
        delays.push(token.delay());
    }
    delays
}

const C: Failed = Failed::CONFLICT;
const F: Failed = Failed::SAFE;

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().max_attempts(20).jitter(Jitter::Fixed(1.0))
}

// Rule B11.
#[test]
fn conflicts_do_not_lengthen_the_backoff_of_other_failures_nor_those_that_of_conflicts() {
    let failures = [C, C, C, C, C, C, F, C, F, Failed::THROTTLED, C];
    let expected = [20, 40, 80, 160, 320, 640, 1000, 1280, 2000, 4000, 2560].map(millis);
    assert_eq!(delays(&standard(), &failures), expected);
    let counted = standard().retry_costs(retry_core::strategy::RetryCosts::new(5).conflict(5));
    assert_eq!(delays(&counted, &failures), expected, "whatever they cost");
    let limited = PacedRetryStrategy::over(standard());
    let unthrottled = [C, C, C, F, C, F];
    let of_limited = [20, 40, 80, 1000, 160, 2000].map(millis);
    assert_eq!(delays(&limited, &unthrottled), of_limited);
    assert_eq!(delays(&ErasedStrategy::new(standard()), &failures), expected);
    assert_eq!(delays(&RetryConfig::new().build_on(standard()).unwrap(), &failures), expected);
    let evidence = by_evidence().max_attempts(20).jitter(Jitter::Fixed(1.0));
    assert_eq!(delays(&evidence, &[C, C, C, C, F, F]), [20, 40, 80, 160, 1000, 2000].map(millis));
}

// Rule B11.
#[test]
fn failures_other_than_conflicts_are_counted_together() {
    let failures = [F, Failed::THROTTLED, Failed::TIMEOUT, F];
    assert_eq!(delays(&standard(), &failures), [1, 2, 4, 8].map(secs));
}

// Rules B9, B11.
#[test]
fn any_backoff_gets_the_number_of_retries_of_the_kind() {
    let linear = standard().with_backoff(LinearBackoff::new(secs(1), secs(60)).jitter(Jitter::None));
    assert_eq!(delays(&linear, &[C, C, F, C, F]), [1, 2, 1, 3, 2].map(secs));
}

// Rules B4, B11.
#[test]
fn a_wait_of_the_server_is_compared_with_the_backoff_of_the_kind() {
    let hinted = F.after(millis(1500));
    let strategy = standard().hint_jitter(retry_core::strategy::HintJitter::NONE);
    assert_eq!(delays(&strategy, &[C, C, C, hinted, hinted]), [20, 40, 80, 1500, 2000].map(millis));
}

// Rules B11, L7.
#[test]
fn a_conflict_after_rejections_that_are_not_counted_has_the_shortest_backoff() {
    let limited = PacedRetryStrategy::over(standard());
    let failures = [Failed::THROTTLED, C, C, Failed::THROTTLED, F, C];
    let delays = delays(&limited, &failures);
    assert_eq!([delays[1], delays[2], delays[4], delays[5]], [20, 40, 1000, 80].map(millis));
}

// Rules B11, R20.
#[test]
fn a_refused_retry_waits_as_long_as_it_would_have_if_it_were_granted() {
    let strategy = standard();
    let mut token = strategy.acquire_initial_token(CLOCK).unwrap();
    for _ in 0..6 {
        token = strategy.refresh_retry_token(token, &Failure::of(&C), CLOCK).unwrap();
    }
    assert_eq!(strategy.refused_delay(&token, &Failure::of(&F)), secs(1));
    assert_eq!(strategy.refused_delay(&token, &Failure::of(&C)), millis(1280));
}

// Rules B6, B11.
#[test]
fn many_conflicts_overflow_nothing() {
    let strategy = standard().max_attempts(u32::MAX);
    let mut token = strategy.acquire_initial_token(CLOCK).unwrap();
    for _ in 0..65_535 {
        token = strategy.refresh_retry_token(token, &Failure::of(&C), CLOCK).unwrap();
    }
    let token = strategy.refresh_retry_token(token, &Failure::of(&F), CLOCK).unwrap();
    assert_eq!(token.delay(), secs(1));
    let token = strategy.refresh_retry_token(token, &Failure::of(&C), CLOCK).unwrap();
    assert_eq!((token.attempt(), token.delay()), (65_538, secs(20)), "the cap");
}
