//! Futures that are `Send`, and outcomes that need not be.

use super::waits;
use crate::support::{Failed, assert_send};
use retry_core::strategy::DelaySource;
use retry_core::{
    ErasedStrategy, Hedge, PatientRetryStrategy, RetryInfo, RetryToken, StandardRetryStrategy, retry, retryable,
};
use std::rc::Rc;
use std::time::Duration;

/// An error that stays on its thread.
#[derive(Debug, RetryInfo)]
struct Stays(#[expect(dead_code, reason = "it is only there")] Option<Rc<()>>);

#[retryable(strategy = "standard")]
async fn stays() -> Result<u32, Stays> {
    Ok(1)
}

#[retryable(strategy = "patient")]
async fn patient() -> Result<u32, Failed> {
    Ok(1)
}

#[retryable(strategy = "patient")]
async fn patient_on_one_thread() -> Result<u32, Stays> {
    Ok(1)
}

// Rule M5.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_is_not_send_leaves_the_future_of_a_strategy_without_waits_send() {
    let strategy = StandardRetryStrategy::new();
    assert_eq!(assert_send(stays()).await.unwrap(), 1);
    assert_eq!(assert_send(retry(&strategy, || async { Ok::<u32, Stays>(1) }).run()).await.unwrap(), 1);
    // With one whose operations wait, there is a future, too.
    assert_eq!(patient_on_one_thread().await.unwrap(), 1);
}

// Rule M5.
#[tokio::test(start_paused = true)]
async fn a_future_of_a_strategy_whose_operations_wait_is_send_if_its_outcome_is() {
    static STRATEGY: PatientRetryStrategy = PatientRetryStrategy::new();
    static HEDGE: Hedge = Hedge::after(Duration::from_secs(1));
    let attempt = || async { Ok::<u32, Failed>(1) };
    assert_eq!(assert_send(patient()).await, Ok(1));
    assert_eq!(assert_send(retry(&STRATEGY, attempt).run()).await, Ok(1));
    assert_eq!(assert_send(retry(&STRATEGY, attempt).idempotent(true).hedge(&HEDGE).run()).await, Ok(1));
    let erased = ErasedStrategy::new(&STRATEGY);
    assert_eq!(assert_send(retry(&erased, attempt).run()).await, Ok(1));
}

// Rules R16, U19.
#[test]
fn the_token_of_an_erased_strategy_says_that_and_how_long_its_operation_waits() {
    use crate::support::{ByHand, millis, secs};
    use retry_core::limit::Ready;
    use retry_core::{Failure, RetryStrategy, Success};

    let (strategy, clock) = (ErasedStrategy::new(waits()), ByHand::at(secs(1_000)));
    let begin = || strategy.acquire_initial_token(&clock).unwrap();
    let mut token = strategy.refresh_retry_token(begin(), &Failure::of(&Failed::SAFE), &clock).unwrap();
    assert_eq!((token.delay_source(), strategy.waiting_operations()), (DelaySource::Service, Some(1)));
    assert!(matches!(strategy.ready(&mut token, &clock, None), Ready::After(_)));
    clock.advance(millis(300));
    (0..2).for_each(|_| strategy.record_success(begin(), &Success::default(), &clock).unwrap());
    assert_eq!(strategy.ready(&mut token, &clock, None), Ready::Now);
    assert_eq!((token.waited(), strategy.waiting_operations()), (millis(300), Some(0)));
}
