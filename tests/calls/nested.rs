//! Retries within retries, which are seen in debug builds and under test guards.

use ::tower::{Layer, ServiceExt, service_fn};
use retry_config::RetryConfig;
use retry_core::test::{TestGuard, begin};
use retry_core::{
    AdaptiveRetryStrategy, Event, EventKind, Observer, RetryInfo, StandardRetryStrategy, TimedOut, retry,
    retry_blocking, retryable, without_retries,
};
use retry_tower::RetryLayer;
use std::cell::Cell;
use std::sync::Mutex;
use std::time::Duration;

use crate::support::{Recorder, poll_once};

#[derive(Clone, Copy, Debug, PartialEq, RetryInfo)]
#[retry(throttling)]
struct SlowDown;

impl From<TimedOut> for SlowDown {
    fn from(_: TimedOut) -> Self {
        Self
    }
}

static OUTER: StandardRetryStrategy = StandardRetryStrategy::new();
static INNER: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(3);

/// Fails this often, then succeeds.
async fn inner(failures: &Cell<u32>) -> Result<(), SlowDown> {
    retry(&INNER, || std::future::ready(fail(failures))).name("inner").run().await
}

fn inner_blocking(failures: &Cell<u32>) -> Result<(), SlowDown> {
    retry_blocking(&INNER, || fail(failures)).name("inner").run()
}

fn fail(failures: &Cell<u32>) -> Result<(), SlowDown> {
    match failures.get() {
        0 => Ok(()),
        left => {
            failures.set(left - 1);
            Err(SlowDown)
        }
    }
}

#[retryable(strategy = OUTER)]
async fn outer(failures: &Cell<u32>) -> Result<(), SlowDown> {
    tokio::task::yield_now().await;
    inner(failures).await
}

#[retryable(strategy = OUTER, blocking)]
fn outer_blocking(failures: &Cell<u32>) -> Result<(), SlowDown> {
    inner_blocking(failures)
}

#[retryable(strategy = OUTER, idempotent, hedge = "1s")]
async fn outer_hedged(failures: &Cell<u32>) -> Result<(), SlowDown> {
    inner(failures).await
}

/// Returns the pairs, without the module of the functions.
fn pairs(test: &TestGuard) -> Vec<String> {
    test.nested().iter().map(|pair| pair.to_string().replace("calls::nested::", "")).collect()
}

// Rule G12.
#[tokio::test]
async fn each_form_sees_the_operations_within_its_attempts() {
    let once = || Cell::new(1);
    let test = begin();
    outer(&once()).await.unwrap();
    assert_eq!(pairs(&test), ["outer around inner: up to 15 attempts"]);
    outer(&Cell::new(4)).await.unwrap();
    assert_eq!(test.nested().len(), 1, "each pair is told once");

    let test = begin();
    outer_blocking(&once()).unwrap();
    assert_eq!(pairs(&test), ["outer_blocking around inner: up to 15 attempts"]);

    let test = begin();
    outer_hedged(&once()).await.unwrap();
    assert_eq!(pairs(&test), ["outer_hedged around inner: up to 15 attempts"]);

    let test = begin();
    let failures = once();
    retry(&OUTER, || inner(&failures)).name("closure").run().await.unwrap();
    failures.set(1);
    retry(&OUTER, || inner(&failures)).name("timed").max_time(Duration::from_secs(60)).run().await.unwrap();
    failures.set(1);
    retry(&OUTER, || inner(&failures)).name("hedged").idempotent(true).hedge(&HEDGE).run().await.unwrap();
    failures.set(1);
    retry_blocking(&OUTER, || inner_blocking(&failures)).name("blocking").run().unwrap();
    failures.set(1);
    let service = service_fn(|()| inner(&failures));
    RetryLayer::with_handle(&OUTER).name("tower").layer(service).oneshot(()).await.unwrap();
    let expected = ["closure", "timed", "hedged", "blocking", "tower"];
    assert_eq!(pairs(&test), expected.map(|outer| format!("{outer} around inner: up to 15 attempts")));
}

static HEDGE: retry_core::Hedge = retry_core::Hedge::p95();

// Rule G12.
#[tokio::test]
async fn functions_that_only_call_each_other_are_not_nested() {
    let test = begin();
    // The inner one is never retried, has a single attempt, or is beside the outer one.
    outer(&Cell::new(0)).await.unwrap();
    without_retries(outer(&Cell::new(1))).await.unwrap_err();
    inner(&Cell::new(1)).await.unwrap();
    let once = Cell::new(1);
    let on_retry = |_: &SlowDown, _: &Event| inner_blocking(&Cell::new(1)).unwrap();
    retry_blocking(&OUTER, || fail(&once)).on_retry(on_retry).run().unwrap();
    let (failures, other) = (Cell::new(0), Cell::new(1));
    let (beside, _) = tokio::join!(outer(&failures), inner(&other));
    beside.unwrap();
    assert_eq!(test.nested(), []);

    // A task of its own is not within the attempt that spawned it.
    let spawn = || async { tokio::spawn(async { inner_blocking(&Cell::new(1)) }).await.unwrap() };
    retry(&OUTER, spawn).run().await.unwrap();
    let thread = || test.handle().run(|| ());
    retry_blocking(&OUTER, || {
        thread();
        let handle = test.handle();
        std::thread::spawn(move || handle.run(|| inner_blocking(&Cell::new(1)))).join().unwrap()
    })
    .run()
    .unwrap();
    assert_eq!(test.nested(), []);

    // An attempt that panicked is left.
    let panics = || -> Result<(), SlowDown> { panic!("in a test") };
    std::panic::catch_unwind(|| retry_blocking(&OUTER, panics).run()).unwrap_err();
    inner_blocking(&Cell::new(1)).unwrap();
    assert_eq!(test.nested(), []);
}

// Rule O18.
#[tokio::test]
async fn an_operation_that_was_retried_before_it_came_into_an_attempt_is_not_nested() {
    let test = begin();
    let failures = Cell::new(2);
    let mut early = Box::pin(retry(&INNER, || std::future::ready(fail(&failures))).name("early").run());
    poll_once(early.as_mut());
    assert_eq!(failures.get(), 1);
    let mut early = Some(early);
    retry(&OUTER, || early.take().unwrap()).name("late").run().await.unwrap();
    assert_eq!((failures.get(), test.nested()), (0, vec![]));
}

// Rule G12.
#[test]
fn the_product_is_that_of_the_maxima_in_effect_if_both_are_known() {
    let test = begin().max_attempts(2);
    outer_blocking(&Cell::new(1)).unwrap();
    assert_eq!(pairs(&test), ["outer_blocking around inner: up to 4 attempts"]);
    let test = begin();
    let limited = AdaptiveRetryStrategy::new();
    let _ = retry_blocking(&limited, || inner_blocking(&Cell::new(1))).name("limited").run();
    let configured = RetryConfig::new().try_max_attempts(2).unwrap().build_on(StandardRetryStrategy::new()).unwrap();
    let _ = retry_blocking(&configured, || inner_blocking(&Cell::new(1))).name("configured").run();
    let pairs_of_both = ["limited around inner: up to 15 attempts", "configured around inner: up to 6 attempts"];
    assert_eq!(pairs(&test), pairs_of_both);

    let test = begin();
    let recorder = Recorder::new();
    let once = Cell::new(1);
    let _ = retry_blocking(&recorder, || inner_blocking(&once)).name("own").run();
    assert_eq!(pairs(&test), ["own around inner"]);
    assert_eq!(test.nested()[0].max_attempts, None);
}

#[derive(Default)]
struct Log(Mutex<Vec<Event>>);

impl Observer for Log {
    fn observe(&self, event: &Event) {
        self.0.lock().unwrap().push(event.clone());
    }
}

// Rule O18.
#[test]
fn the_first_retry_within_an_attempt_is_a_warning_for_each_pair() {
    let test = begin();
    let log = Log::default();
    let call = |outer: &'static str| {
        let once = Cell::new(1);
        let inner = || retry_blocking(&INNER, || fail(&once)).name("inner of two").observer(&log).run();
        retry_blocking(&OUTER, inner).name(outer).run().unwrap();
    };
    call("first");
    call("first");
    call("second");
    let events = log.0.lock().unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event.kind.as_str()).collect();
    let silent = ["attempt_started", "attempt_failed", "retry_scheduled", "attempt_started", "succeeded"];
    let told = ["attempt_started", "attempt_failed", "nested", "retry_scheduled", "attempt_started", "succeeded"];
    assert_eq!(kinds, [&told[..], &silent, &told].concat());
    let nested = |event: &&Event| matches!(event.kind, EventKind::Nested { .. });
    let warnings: Vec<_> =
        events.iter().filter(nested).map(|event| (event.operation, event.attempt, event.kind)).collect();
    let expected =
        ["first", "second"].map(|outer| ("inner of two", 1, EventKind::Nested { outer, max_attempts: Some(15) }));
    assert_eq!(warnings, expected);
    assert_eq!(test.nested().len(), 2);
}
