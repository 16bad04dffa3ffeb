//! How many operations wait, and strategies in which none does.

use super::{Line, Waits, waits};
use crate::support::{ByHand, Failed, millis, secs};
use retry_core::quota::EvidenceQuota;
use retry_core::{
    Failure, PatientRetryStrategy, RetryError, RetryStrategy, RetryToken, StandardRetryStrategy, Success, retry,
};
use std::future::ready;

// Rule U5.
#[test]
fn one_more_than_may_wait_is_refused() {
    let line = Line::of(waits().max_waiting(2));
    let refused = || {
        let refreshed = line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::SAFE), &line.clock);
        assert_eq!(refreshed.unwrap_err(), RetryError::QuotaExhausted);
        assert_eq!(line.waiting(), Some(2));
    };
    let [mut first, second] = [(); 2].map(|()| line.joins());
    refused();
    // A place is free when an operation is sent, leaves, or joins again.
    line.answers(100);
    assert_eq!(line.sent([&mut first]), [true]);
    let mut first = line.fails(first, &Failure::of(&Failed::SAFE));
    refused();
    line.strategy.release(second);
    let mut second = line.joins();
    refused();
    line.clock.advance(secs(16));
    assert_eq!(line.ask(&mut first), retry_core::limit::Ready::Stop);
    let mut third = line.joins();
    assert_eq!(line.ask(&mut second), retry_core::limit::Ready::Stop);
    assert_eq!((line.sent([&mut third]), line.waiting()), ([false], Some(1)));
}

// Rule U5.
#[test]
fn ten_thousand_operations_wait_by_default() {
    let line = Line::of(waits());
    let fail = || line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::SAFE), &line.clock);
    let tokens: Vec<_> = (0..10_000).map(|_| fail().unwrap()).collect();
    assert_eq!((tokens.len(), line.waiting()), (10_000, Some(10_000)));
    assert_eq!(fail().unwrap_err(), RetryError::QuotaExhausted);
}

/// Drives a strategy with a random but fixed sequence of outcomes, and returns the answers.
fn answers<S: RetryStrategy>(strategy: &S) -> Vec<String> {
    let (clock, mut answers, mut number) = (ByHand::at(secs(1_000)), Vec::new(), 1_u64);
    for _ in 0..200 {
        let mut token = strategy.acquire_initial_token(&clock).unwrap();
        loop {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            clock.advance(std::time::Duration::from_millis(number >> 33 & 0x1ff));
            let failed = match number >> 60 {
                0..5 => Failed::SAFE,
                5 if (number >> 50).is_multiple_of(8) => Failed::TIMEOUT,
                8 => Failed::THROTTLED.after(secs(number >> 59)),
                9 => Failed::FATAL,
                _ => {
                    strategy.record_success(token, &Success::default(), &clock).unwrap();
                    break;
                }
            };
            let failure = Failure::of(&failed).with_remaining((number >> 59 == 1).then_some(secs(9)));
            match strategy.refresh_retry_token(token, &failure, &clock) {
                Ok(next) => token = next,
                Err(reason) => {
                    answers.push(format!("{reason:?} {:?}", strategy.quota_level()));
                    break;
                }
            }
            answers.push(format!("{:?} {:?}", (token.attempt(), token.delay()), token.delay_source()));
            answers.push(format!("{:?} {:?}", strategy.ready(&mut token, &clock, None), strategy.quota_mode()));
        }
    }
    answers
}

// Rule U5.
#[test]
fn without_waits_it_is_the_standard_strategy() {
    let standard = || StandardRetryStrategy::new().max_attempts(3).seed(7).with_quota(EvidenceQuota::new());
    let expected = answers(&standard());
    assert!(expected.iter().any(|answer| answer.contains("QuotaExhausted")), "{expected:?}");
    assert!(expected.iter().any(|answer| answer.contains("MaxAttempts")), "{expected:?}");
    let without_time = PatientRetryStrategy::over(standard()).max_wait_for_service(secs(0));
    let without_places = PatientRetryStrategy::over(standard()).max_waiting(0);
    assert_eq!(answers(&without_time), expected);
    assert_eq!(answers(&without_places), expected);
}

// Rule U5.
#[tokio::test(start_paused = true)]
async fn without_waits_an_operation_with_a_time_limit_does_not_wait_either() {
    let ends = async |strategy: Waits| {
        let report = retry(&strategy, || ready(Err::<u32, _>(Failed::SAFE))).max_time(secs(60)).report().await;
        assert_eq!((report.attempts, report.reason), (1, Some(RetryError::QuotaExhausted)));
        assert!(report.elapsed.is_zero());
    };
    ends(waits().max_wait_for_service(secs(0))).await;
    ends(waits().max_waiting(0)).await;
}

// Rule U3.
#[test]
fn an_operation_that_has_waited_for_15_seconds_waits_no_more() {
    let line = Line::new();
    let mut token = line.joins();
    line.clock.advance(millis(14_900));
    line.answers(100);
    assert_eq!(line.sent([&mut token]), [true]);
    assert_eq!(token.waited(), secs(15));
    let refused = line.strategy.refresh_retry_token(token, &Failure::of(&Failed::SAFE), &line.clock);
    assert_eq!(refused.unwrap_err(), RetryError::QuotaExhausted);
}

// Rule R14.
#[test]
fn its_retries_can_be_switched_off() {
    let line = Line::new();
    assert!(line.strategy.is_enabled());
    line.strategy.set_enabled(false);
    assert!(!line.strategy.is_enabled());
    let refused = line.strategy.refresh_retry_token(line.begin(), &Failure::of(&Failed::SAFE), &line.clock);
    assert_eq!(refused.unwrap_err(), RetryError::Disabled);
    line.strategy.set_enabled(true);
    line.joins();
}
