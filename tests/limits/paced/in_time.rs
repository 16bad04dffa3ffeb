//! Operations that can't be sent within their time.

use super::{millis, secs};
use crate::support::Failed;
use retry_core::retry;
use retry_limits::PacedRetryStrategy;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::LocalSet;
use tokio::time::{Instant, sleep};

/// Begins operations at one moment, which may take this long. Returns, for each in order, whether it succeeded, and how long it took.
async fn at_once(
    strategy: &'static PacedRetryStrategy,
    operations: usize,
    max_time: Duration,
) -> Vec<(bool, Duration)> {
    let (local, done) = (LocalSet::new(), Rc::new(RefCell::new(Vec::new())));
    let started = Instant::now();
    for number in 0..operations {
        let done = Rc::clone(&done);
        local.spawn_local(async move {
            let attempt = async || {
                sleep(millis(20)).await;
                Ok::<_, Failed>(())
            };
            let result = retry(strategy, attempt).max_time(max_time).run().await;
            done.borrow_mut().push((number, result.is_ok(), started.elapsed()));
        });
    }
    local.await;
    let mut done = done.take();
    done.sort_unstable();
    done.into_iter().map(|(_, is_ok, took)| (is_ok, took)).collect()
}

// Rule L56.
#[tokio::test(start_paused = true)]
async fn an_operation_that_cant_be_sent_within_its_time_ends_at_once_and_those_before_it_succeed_in_order() {
    static TOLD: PacedRetryStrategy = PacedRetryStrategy::new().max_rate(10.3).ramp(false);
    let outcomes = at_once(&TOLD, 100, secs(2)).await;
    let sent: Vec<_> = outcomes.iter().take_while(|(is_ok, _)| *is_ok).collect();
    // 8/9 of 2 s at 10 per second.
    assert!((16..=18).contains(&sent.len()), "{}", sent.len());
    assert!(sent.is_sorted_by_key(|(_, took)| *took), "first come, first served");
    assert!(outcomes[sent.len()..].iter().all(|(is_ok, took)| !is_ok && took.is_zero()), "{outcomes:?}");
}

// Rule L56.
#[tokio::test(start_paused = true)]
async fn an_operation_with_enough_time_waits_for_its_turn() {
    static TOLD: PacedRetryStrategy = PacedRetryStrategy::new().max_rate(10.3).ramp(false);
    let outcomes = at_once(&TOLD, 100, secs(12)).await;
    assert!(outcomes.iter().all(|(is_ok, _)| *is_ok), "{outcomes:?}");
}

// Rule L61.
#[tokio::test(start_paused = true)]
async fn while_a_limit_is_searched_an_operation_waits_until_its_time_is_over() {
    static RAMP: PacedRetryStrategy = PacedRetryStrategy::new().initial_rate(1.0);
    let outcomes = at_once(&RAMP, 20, secs(2)).await;
    assert!(outcomes.iter().all(|(_, took)| !took.is_zero()), "{outcomes:?}");
}
