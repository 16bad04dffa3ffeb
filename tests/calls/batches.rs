//! Batches of which a part fails: the rest is sent again, and progress resets the attempts and pays back.

use ::tower::{Layer, ServiceExt, service_fn};
use retry_config::{ConfiguredStrategy, RetryConfig, RetryMode};
use retry_core::drive::{Next, Operation, Settled};
use retry_core::quota::EvidenceQuota;
use retry_core::strategy::LongPolling;
use retry_core::time::ManualTimer;
use retry_core::{
    AdaptiveRetryStrategy, Clock, ErasedStrategy, Event, Jitter, Observer, PatientRetryStrategy, RetryDirective,
    RetryErrorType, RetryInfo, RetryPolicy, RetryQuota, RetryStrategy, StandardRetryPolicy, StandardRetryStrategy,
    policy_fn, retry, retryable,
};
use retry_limits::{ConcurrencyRetryStrategy, PacedRetryStrategy};
use retry_tower::RetryLayer;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Mutex;
use std::task::Waker;

use crate::support::secs;

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
#[retry(throttling)]
struct Refused {
    accepted: usize,
}

fn policy(outcome: &Result<(), Refused>) -> RetryDirective {
    let progressed = matches!(outcome, Err(Refused { accepted: 1.. }));
    StandardRetryPolicy::new().evaluate(outcome).progressed(progressed)
}

fn forgetful(outcome: &Result<(), Refused>) -> RetryDirective {
    StandardRetryPolicy::new().evaluate(outcome)
}

/// Which entries of a batch are refused.
#[derive(Clone, Copy, Debug)]
enum Refuses {
    /// This part of each batch, rounded down.
    Part(f64),
    /// Each entry with this probability, so that an attempt may make no progress.
    Random(f64),
}

/// A table that refuses a part of each batch.
struct Table {
    refuses: Refuses,
    random: RefCell<u64>,
    /// How often each entry was accepted.
    accepted: RefCell<BTreeMap<u32, u32>>,
}

impl Table {
    fn new(refuses: Refuses) -> Self {
        Self { refuses, random: RefCell::new(7), accepted: RefCell::default() }
    }

    fn drawn(&self) -> f64 {
        let mut random = self.random.borrow_mut();
        *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(*random >> 33).unwrap()) / f64::from(1_u32 << 31)
    }

    /// Takes what it accepts out of the batch.
    fn put(&self, batch: &mut Vec<u32>) -> Result<(), Refused> {
        let before = batch.len();
        let mut place = 0.0;
        #[expect(clippy::cast_precision_loss, reason = "a batch is small")]
        let length = before as f64;
        batch.retain(|entry| {
            place += 1.0;
            let refuses = match self.refuses {
                Refuses::Part(part) => place <= (part * length).floor(),
                Refuses::Random(part) => self.drawn() < part,
            };
            if !refuses {
                *self.accepted.borrow_mut().entry(*entry).or_default() += 1;
            }
            refuses
        });
        if batch.is_empty() { Ok(()) } else { Err(Refused { accepted: before - batch.len() }) }
    }

    /// Returns the number of entries that were never accepted, of those below this one.
    fn missing(&self, entries: u32) -> usize {
        let accepted = self.accepted.borrow();
        assert!(accepted.values().all(|times| *times == 1), "no entry is accepted twice");
        usize::try_from(entries).unwrap() - accepted.len()
    }
}

#[retryable(strategy = strategy, policy = policy_fn(policy))]
async fn put(strategy: &impl RetryStrategy, table: &Table, batch: &mut Vec<u32>) -> Result<(), Refused> {
    table.put(batch)
}

#[retryable(strategy = strategy, policy = policy_fn(forgetful))]
async fn put_without_progress(
    strategy: &impl RetryStrategy,
    table: &Table,
    batch: &mut Vec<u32>,
) -> Result<(), Refused> {
    table.put(batch)
}

#[retryable(strategy = strategy, policy = policy_fn(policy), unlimited_attempts)]
async fn put_until_done(strategy: &impl RetryStrategy, table: &Table, batch: &mut Vec<u32>) -> Result<(), Refused> {
    table.put(batch)
}

const ENTRIES: u32 = 600;

/// Sends 600 entries in batches of this size, and returns how many were not sent.
async fn missing(strategy: &impl RetryStrategy, size: u32, refused: f64, progresses: bool) -> usize {
    let table = Table::new(Refuses::Part(refused));
    for first in (0..ENTRIES).step_by(size as usize) {
        let mut batch = (first..first + size).collect();
        let sent = if progresses {
            put(strategy, &table, &mut batch).await
        } else {
            put_without_progress(strategy, &table, &mut batch).await
        };
        assert_eq!(sent.is_ok(), batch.is_empty());
    }
    table.missing(ENTRIES)
}

// Rule R25.
#[tokio::test(start_paused = true)]
async fn all_entries_of_a_batch_are_sent_however_many_attempts_refuse_a_part() {
    for size in [10, 25, 600] {
        for refused in [0.2, 0.5, 0.7, 0.95] {
            assert_eq!(missing(&StandardRetryStrategy::new(), size, refused, true).await, 0, "{size}, {refused}");
            assert_eq!(missing(&PatientRetryStrategy::new(), size, refused, true).await, 0, "{size}, {refused}");
            let by_evidence = StandardRetryStrategy::new().with_quota(EvidenceQuota::new());
            assert_eq!(missing(&by_evidence, size, refused, true).await, 0, "{size}, {refused}");
        }
    }
    for refused in [0.2, 0.7] {
        let paced = PacedRetryStrategy::new().max_throttled_time(secs(3));
        assert_eq!(missing(&paced, 25, refused, true).await, 0, "the time of throttled attempts begins anew");
        assert_eq!(missing(&ConcurrencyRetryStrategy::new(), 25, refused, true).await, 0);
        assert_eq!(missing(&AdaptiveRetryStrategy::new(), 25, refused, true).await, 0);
        assert_eq!(missing(&LongPolling::over(StandardRetryStrategy::new()), 25, refused, true).await, 0);
        assert_eq!(
            missing(
                &RetryConfig::new().mode(RetryMode::Paced).build_on(StandardRetryStrategy::new()).unwrap(),
                25,
                refused,
                true
            )
            .await,
            0
        );
        assert_eq!(missing(&ConfiguredStrategy::default(), 10, refused, true).await, 0);
        assert_eq!(missing(&ErasedStrategy::new(StandardRetryStrategy::new()), 25, refused, true).await, 0);
    }
    // What the rule is for.
    assert!(missing(&StandardRetryStrategy::new(), 25, 0.7, false).await >= 40);
    let by_evidence = StandardRetryStrategy::new().with_quota(EvidenceQuota::new());
    assert!(missing(&by_evidence, 25, 0.7, false).await >= 40);
}

// Rules R23, R25.
#[tokio::test(start_paused = true)]
async fn attempts_without_progress_end_a_batch_unless_they_are_unlimited() {
    let strategy = PatientRetryStrategy::new();
    for refused in [0.5, 0.7, 0.9] {
        let table = Table::new(Refuses::Random(refused));
        for first in (0..ENTRIES).step_by(25) {
            let mut batch = (first..first + 25).collect();
            assert_eq!(put_until_done(&strategy, &table, &mut batch).await, Ok(()), "{refused}");
        }
        assert_eq!(table.missing(ENTRIES), 0);
    }
    let table = Table::new(Refuses::Part(1.0));
    let mut batch = vec![1];
    assert_eq!(put(&StandardRetryStrategy::new(), &table, &mut batch).await, Err(Refused { accepted: 0 }));
    assert_eq!(batch, [1]);
}

// Rule R25.
#[tokio::test(start_paused = true)]
async fn a_closure_sends_the_rest_of_a_batch() {
    let (strategy, table) = (StandardRetryStrategy::new(), Table::new(Refuses::Part(0.7)));
    let rest = Mutex::new((0..ENTRIES).collect::<Vec<_>>());
    let attempt = || {
        let result = table.put(&mut rest.lock().unwrap());
        async move { result }
    };
    assert_eq!(retry(&strategy, attempt).policy(policy_fn(policy)).run().await, Ok(()));
    assert_eq!(table.missing(ENTRIES), 0);
    assert!(strategy.quota().available() >= 496, "only the last retry is not partial");
}

// Rule R25.
#[tokio::test(start_paused = true)]
async fn the_layer_resets_the_attempts_after_progress() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
    let left = Mutex::new(20);
    let service = service_fn(|()| {
        let mut left = left.lock().unwrap();
        *left -= 1;
        let result = if *left == 0 { Ok(()) } else { Err(Refused { accepted: 1 }) };
        async move { result }
    });
    assert_eq!(RetryLayer::new(&STORE).policy(policy_fn(policy)).layer(service).oneshot(()).await, Ok(()));
    assert_eq!(STORE.quota().available(), 496, "only the last retry is not partial");
}

/// An answer about a batch.
#[derive(Clone, Debug, PartialEq)]
struct Answer {
    accepted: usize,
    refused: Vec<u32>,
}

fn of_answer(outcome: &Result<Answer, Refused>) -> RetryDirective {
    match outcome {
        Ok(answer) if answer.refused.is_empty() => RetryDirective::succeed(),
        Ok(answer) => RetryDirective::retry(RetryErrorType::Throttling).progressed(answer.accepted > 0),
        Err(error) => StandardRetryPolicy::new().evaluate_error(error),
    }
}

fn only_refused(batch: &mut Vec<u32>, outcome: &Result<Answer, Refused>) {
    if let Ok(answer) = outcome {
        batch.clone_from(&answer.refused);
    }
}

// Rules W11, R25.
#[tokio::test(start_paused = true)]
async fn the_layer_sends_the_rest_of_a_batch() {
    for size in [10, 25, 600] {
        for refused in [0.2, 0.5, 0.7, 0.95] {
            let (strategy, table) = (StandardRetryStrategy::new(), Table::new(Refuses::Part(refused)));
            let sizes = RefCell::new(Vec::new());
            let service = service_fn(|mut batch: Vec<u32>| {
                let before = batch.len();
                sizes.borrow_mut().push(before);
                let _ = table.put(&mut batch);
                ready(Ok::<_, Refused>(Answer { accepted: before - batch.len(), refused: batch }))
            });
            let layer = RetryLayer::with_handle(&strategy).policy(policy_fn(of_answer)).next_request(only_refused);
            let stack = layer.layer(service);
            for first in (0..ENTRIES).step_by(size as usize) {
                let answer = stack.clone().oneshot((first..first + size).collect()).await.unwrap();
                assert!(answer.refused.is_empty(), "{size}, {refused}");
                let sizes = sizes.take();
                assert!(sizes.windows(2).all(|pair| pair[0] > pair[1]), "{sizes:?}");
            }
            assert_eq!(table.missing(ENTRIES), 0, "none is sent twice");
        }
    }
}

// Rules W11, W8.
#[tokio::test(start_paused = true)]
async fn changes_of_the_next_request_add_up_and_those_of_an_attempt_do_not() {
    let (strategy, seen) = (StandardRetryStrategy::new(), RefCell::new(Vec::new()));
    let service = service_fn(|request: String| {
        seen.borrow_mut().push(request);
        let attempt = seen.borrow().len();
        ready(if attempt < 3 { Err(Refused { accepted: attempt }) } else { Ok(()) })
    });
    let layer = RetryLayer::with_handle(&strategy)
        .next_request(|request: &mut String, outcome: &Result<(), Refused>| {
            *request = format!("{request}+{}", outcome.unwrap_err().accepted);
        })
        .before_attempt(|request: &mut String, context| *request = format!("{request}#{}", context.attempt()));
    layer.layer(service).oneshot("a".to_owned()).await.unwrap();
    assert_eq!(*seen.borrow(), ["a#1", "a+1#2", "a+1+2#3"]);
}

// Rule W11.
#[tokio::test(start_paused = true)]
async fn the_next_request_is_made_only_if_a_retry_may_follow() {
    for (accepted, is_cloned) in [(2, true), (1, false)] {
        let (strategy, calls) = (StandardRetryStrategy::new().max_attempts(2), RefCell::new(Vec::new()));
        let number = Cell::new(0);
        let service = service_fn(|()| {
            number.set(number.get() + 1);
            ready(Err::<(), _>(Refused { accepted: number.get() }))
        });
        let next = |(): &mut (), outcome: &Result<(), Refused>| calls.borrow_mut().push(outcome.unwrap_err().accepted);
        let layer = RetryLayer::with_handle(&strategy);
        let layer = layer.next_request(next).clone_with(|(): &()| is_cloned.then_some(()));
        let sent = layer.layer(service).oneshot(()).await;
        assert_eq!(sent, Err(Refused { accepted }));
        assert_eq!(*calls.borrow(), [1][..usize::from(is_cloned)], "not after the last attempt");
    }
}

// Rule R25.
#[test]
fn progress_pays_back_and_begins_the_attempts_and_the_backoff_anew() {
    let strategy = StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0)).quota_capacity(30);
    let clock = ManualTimer::new();
    let mut operation = Operation::builder(&strategy, "put").clock(&clock).max_time(secs(1000)).begin();
    let began = clock.now();
    // The delays, with progress in the attempts 3 and 6, and what is then left of the quota.
    let mut seen = Vec::new();
    for attempt in 1..=7 {
        assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
        operation.sent();
        let directive = RetryDirective::retry(RetryErrorType::Throttling).progressed(attempt % 3 == 0);
        assert_eq!(operation.settle(directive), Settled::Retry, "attempt {attempt}");
        let Next::Wait(wait) = operation.next(Waker::noop()) else { panic!("there is a delay") };
        seen.push((wait.as_secs(), strategy.quota().available()));
        clock.advance(wait);
    }
    // Attempt 3 cost 5, which comes back with 1 for a success, and the next one costs 5.
    assert_eq!(seen, [(1, 25), (2, 20), (1, 21), (2, 16), (4, 11), (1, 12), (2, 7)]);
    assert_eq!(operation.context().attempt(), 3, "counted from the progress");
    assert!(clock.now().saturating_since(began) < secs(30));
    // An attempt that was not sent did nothing.
    assert!(matches!(operation.next(Waker::noop()), Next::Attempt { .. }));
    let directive = RetryDirective::retry(RetryErrorType::Throttling).progressed(true);
    assert_eq!(operation.settle(directive), Settled::Retry);
    assert_eq!(operation.next(Waker::noop()), Next::Wait(secs(4)));
}

#[derive(Default)]
struct Seen(Mutex<Vec<(u32, &'static str)>>);

impl Observer for Seen {
    fn observe(&self, event: &Event) {
        self.0.lock().unwrap().push((event.attempt, event.kind.as_str()));
    }
}

// Rule R25.
#[tokio::test(start_paused = true)]
async fn progress_is_an_event_after_which_attempts_count_anew() {
    let (strategy, table, seen) = (StandardRetryStrategy::new(), Table::new(Refuses::Part(0.5)), Seen::default());
    let batch = RefCell::new(vec![1, 2, 3, 4]);
    let attempt = || ready(table.put(&mut batch.borrow_mut()));
    assert_eq!(retry(&strategy, attempt).policy(policy_fn(policy)).observer(&seen).run().await, Ok(()));
    let expected = [
        (1, "attempt_started"),
        (1, "progressed"),
        (1, "attempt_failed"),
        (1, "retry_scheduled"),
        (2, "attempt_started"),
        (2, "progressed"),
        (1, "attempt_failed"),
        (1, "retry_scheduled"),
        (2, "attempt_started"),
        (2, "succeeded"),
    ];
    assert_eq!(*seen.0.lock().unwrap(), expected);
}
