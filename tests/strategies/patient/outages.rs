//! What users meet: an operation outlasts an outage.

use crate::script::Error;
use crate::support::{Failed, millis, secs};
use retry_core::{PatientRetryStrategy, RetryStrategy, retry, retryable};
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::task::Poll;
use std::time::Duration;
use tokio::time::{Instant, sleep};

type Outcome = Result<u32, Error>;

const DOWN: Outcome = Err(Error::Failed(Failed::SAFE));

/// Returns a strategy whose service has answered, an hour ago.
async fn warm(seed: u64) -> PatientRetryStrategy {
    let strategy = PatientRetryStrategy::new().seed(seed);
    let answer = async || {
        sleep(millis(10)).await;
        Ok::<u32, Failed>(1)
    };
    for _ in 0..100 {
        retry(&strategy, answer).run().await.unwrap();
        sleep(millis(90)).await;
    }
    sleep(secs(3_600)).await;
    strategy
}

/// A call whose attempts have these outcomes, each after 10 ms; `None` never answers.
async fn call(strategy: &PatientRetryStrategy, outcomes: &[Option<Outcome>]) -> Outcome {
    let calls = Cell::new(0);
    retry(strategy, async || {
        let outcome = outcomes[calls.replace(calls.get() + 1)];
        sleep(millis(10)).await;
        match outcome {
            Some(outcome) => outcome,
            None => pending().await,
        }
    })
    .attempt_timeout(secs(1))
    .idempotent(true)
    .run()
    .await
}

// Rule U1.
#[tokio::test(start_paused = true)]
async fn three_failures_in_a_row_of_a_warm_and_idle_client_are_hidden() {
    let strategy = warm(0).await;
    assert_eq!(call(&strategy, &[Some(DOWN), Some(DOWN), Some(DOWN), Some(Ok(1))]).await, Ok(1));
}

// Rule U1.
#[tokio::test(start_paused = true)]
async fn two_stalls_of_a_warm_and_idle_client_are_hidden() {
    let strategy = warm(0).await;
    assert_eq!(call(&strategy, &[None, None, Some(Ok(1))]).await, Ok(1));
}

// Rule U1.
#[tokio::test(start_paused = true)]
async fn a_failure_and_a_timeout_of_a_new_process_are_hidden() {
    for _ in 0..20 {
        let strategy = PatientRetryStrategy::new();
        assert_eq!(call(&strategy, &[Some(DOWN), None, Some(Ok(1))]).await, Ok(1));
    }
}

/// Makes ten calls each second for six seconds, of which a service is down for the first three. Returns the number of calls that are
/// lost, and the number of all attempts.
async fn restart(seed: u64) -> (u32, u32) {
    let (strategy, began) = (warm(seed).await, Instant::now());
    let attempt = async || {
        sleep(millis(10)).await;
        if began.elapsed() < secs(3) { Err::<u32, _>(Failed::SAFE) } else { Ok(1) }
    };
    let calls = (0..60).map(async |number| {
        sleep(millis(100) * number).await;
        let report = retry(&strategy, attempt).report().await;
        (u32::from(report.outcome.is_err()), report.attempts)
    });
    let ends = join_all(calls).await;
    assert_eq!(strategy.waiting_operations(), Some(0));
    ends.into_iter().fold((0, 0), |all, end| (all.0 + end.0, all.1 + end.1))
}

// Rule U1.
#[tokio::test(start_paused = true)]
async fn calls_outlast_a_restart() {
    let (mut lost, mut attempts) = (0, 0);
    for seed in 0..10 {
        let end = restart(seed).await;
        (lost, attempts) = (lost + end.0, attempts + end.1);
    }
    // One that spends its last attempt before the service is back can be lost.
    assert!(lost <= 600 / 100, "{lost} of 600");
    assert!(attempts < 2 * 600, "{attempts} attempts of 600 calls");
}

/// Makes this many calls each second for 35 s, of a service that is down for a time after 10 s. Returns the number of the
/// calls of the outage that are lost, and the time from its end until the last one has its answer.
async fn drained(seed: u64, calls_per_second: u32, outage: Duration) -> (usize, Duration) {
    let (strategy, began) = (PatientRetryStrategy::new().seed(seed), Instant::now());
    let (from, until) = (secs(10), secs(10) + outage);
    let attempt = async || {
        let arrival = began.elapsed();
        sleep(millis(20)).await;
        if (from..until).contains(&arrival) { Err::<u32, _>(Failed::SAFE) } else { Ok(1) }
    };
    let calls = (0..35 * calls_per_second).map(async |number| {
        sleep(millis(400) / calls_per_second + secs(1) * number / calls_per_second).await;
        let is_of_outage = (from..until).contains(&began.elapsed());
        let outcome = retry(&strategy, attempt).run().await;
        is_of_outage.then(|| outcome.map(|_| began.elapsed().saturating_sub(until)))
    });
    let ends: Vec<_> = join_all(calls).await.into_iter().flatten().collect();
    let lost = ends.iter().filter(|end| end.is_err()).count();
    (lost, ends.into_iter().flatten().max().unwrap())
}

// Rules U8, U11.
/// The documentation of the strategy has these numbers.
#[tokio::test(start_paused = true)]
async fn calls_of_an_outage_go_within_4_s_after_one_of_3_s_and_within_10_s_after_one_of_10_s() {
    for (outage, at_most) in [(secs(3), secs(4)), (secs(10), millis(10_200))] {
        for (calls_per_second, seeds) in [(1, 4), (10, 4), (100, 1)] {
            for seed in 0..seeds {
                let (lost, end) = drained(seed, calls_per_second, outage).await;
                assert_eq!(lost, 0);
                assert!(end <= at_most, "{end:?} after {outage:?}, {calls_per_second} calls per second, seed {seed}");
            }
        }
    }
}

/// Runs futures beside each other to their ends.
async fn join_all<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut futures: Vec<_> = futures.into_iter().map(|future| (Box::pin(future), None)).collect();
    poll_fn(|context| {
        for (future, output) in &mut futures {
            if output.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(context)
            {
                *output = Some(ready);
            }
        }
        if futures.iter().all(|(_, output)| output.is_some()) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    futures.into_iter().filter_map(|(_, output)| output).collect()
}

// Rule M8.
#[tokio::test(start_paused = true)]
async fn the_attribute_makes_a_patient_strategy_for_a_function() {
    #[retryable(strategy = "patient")]
    async fn fetch(calls: &Cell<u32>) -> Result<u32, Failed> {
        calls.set(calls.get() + 1);
        if calls.get() < 4 { Err(Failed::SAFE) } else { Ok(calls.get()) }
    }

    assert_eq!(fetch(&Cell::new(0)).await, Ok(4), "the quota of a new process pays for two retries");
}
