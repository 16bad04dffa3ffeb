//! Requests that can and that can't be cloned, in the situations of the tests of tower's own retry layer, against the
//! mock service of those tests. The mock panics if it is called before it is ready.

use super::{Events, standard};
use crate::support::{Failed, secs};
use ::tower::{Layer, Service, ServiceExt, service_fn};
use retry_core::{
    AdaptiveRetryStrategy, Hedge, RetryDirective, RetryErrorType, RetryPolicy, RetryQuota, StandardRetryStrategy,
    policy_fn,
};
use retry_tower::{RetryLayer, WithoutRetriesLayer};
use std::cell::Cell;
use std::error::Error;
use std::future::ready;
use tokio::time::Instant;
use tower_test::mock::{self, Handle};

type BoxError = Box<dyn Error + Send + Sync>;
type Outcome = Result<&'static str, BoxError>;

/// Retries every error.
fn errors() -> impl RetryPolicy<Outcome> + Clone {
    policy_fn(|outcome: &Outcome| match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(_) => RetryDirective::retry(RetryErrorType::Other),
    })
}

/// Answers the next request with an error.
async fn fail(handle: &mut Handle<&'static str, &'static str>, request: &str, error: &'static str) {
    let (got, answer) = handle.next_request().await.unwrap();
    assert_eq!(got, request);
    answer.send_error(error);
}

/// Answers the next request.
async fn succeed(handle: &mut Handle<&'static str, &'static str>, request: &str, response: &'static str) {
    let (got, answer) = handle.next_request().await.unwrap();
    assert_eq!(got, request);
    answer.send_response(response);
}

/// Returns the message of an error.
fn message(outcome: Outcome) -> String {
    outcome.unwrap_err().to_string()
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn errors_are_retried() {
    let strategy = standard();
    let (service, mut handle) = mock::pair();
    let call = RetryLayer::with_handle(&strategy).policy(errors()).layer(service).oneshot("hello");
    let server = async {
        fail(&mut handle, "hello", "retry me").await;
        succeed(&mut handle, "hello", "world").await;
    };
    let (outcome, ()) = tokio::join!(call, server);
    assert_eq!(outcome.unwrap(), "world");
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn the_attempts_of_a_request_are_limited() {
    let strategy = standard().max_attempts(3);
    let (service, mut handle) = mock::pair();
    let call = RetryLayer::with_handle(&strategy).policy(errors()).layer(service).oneshot("hello");
    let server = async {
        for error in ["retry 1", "retry 2", "retry 3"] {
            fail(&mut handle, "hello", error).await;
        }
    };
    let (outcome, ()) = tokio::join!(call, server);
    assert_eq!(message(outcome), "retry 3");
}

// Rule W1.
#[tokio::test(start_paused = true)]
async fn the_policy_distinguishes_errors() {
    let strategy = standard();
    let policy = policy_fn(|outcome: &Outcome| match outcome {
        Ok(_) => RetryDirective::succeed(),
        Err(error) if error.to_string() == "retry me" => RetryDirective::retry(RetryErrorType::Other),
        Err(_) => RetryDirective::fail(None),
    });
    let (service, mut handle) = mock::pair();
    let call = RetryLayer::with_handle(&strategy).policy(policy).layer(service).oneshot("hello");
    let server = async {
        fail(&mut handle, "hello", "retry me").await;
        fail(&mut handle, "hello", "not retryable").await;
    };
    let (outcome, ()) = tokio::join!(call, server);
    assert_eq!(message(outcome), "not retryable");
}

// Rule W2.
#[tokio::test(start_paused = true)]
async fn a_request_that_cannot_be_cloned_is_sent_once() {
    let (strategy, events) = (standard(), Events::default());
    let layer = RetryLayer::with_handle(&strategy).policy(errors()).clone_with(|_: &&str| None).observer(&events);
    let (service, mut handle) = mock::pair();
    let started = Instant::now();
    let (outcome, ()) = tokio::join!(layer.layer(service).oneshot("hello"), fail(&mut handle, "hello", "retry me"));
    assert_eq!(message(outcome), "retry me");
    assert_eq!(events.0.take().last().unwrap(), "tower: stopped not_repeatable");
    assert_eq!(strategy.quota().available(), 500);
    assert_eq!(started.elapsed(), secs(0));

    // A success is recorded as always.
    assert!(strategy.quota().try_acquire(10, &retry_core::TokioTimer));
    let (service, mut handle) = mock::pair();
    let (outcome, ()) = tokio::join!(layer.layer(service).oneshot("hello"), succeed(&mut handle, "hello", "world"));
    assert_eq!(outcome.unwrap(), "world");
    assert_eq!(events.0.take().last().unwrap(), "tower: succeeded");
    assert_eq!(strategy.quota().available(), 491);
}

// Rule W2.
#[tokio::test(start_paused = true)]
async fn a_failure_that_the_policy_does_not_retry_keeps_its_reason_without_a_clone() {
    let (strategy, events) = (standard(), Events::default());
    let layer = RetryLayer::with_handle(&strategy).clone_with(|(): &()| None).observer(&events);
    let outcome = layer.layer(service_fn(|()| ready(Err::<(), _>(Failed::FATAL)))).oneshot(()).await;
    assert_eq!(outcome, Err(Failed::FATAL));
    assert_eq!(events.0.take().last().unwrap(), "tower: stopped not_retryable");
}

// Rules W2, R6.
#[tokio::test(start_paused = true)]
async fn a_limiter_learns_from_a_request_that_cannot_be_cloned() {
    let strategy = AdaptiveRetryStrategy::over(standard());
    let throttled = service_fn(|()| ready(Err::<(), _>(Failed::THROTTLED)));
    let service = RetryLayer::with_handle(&strategy).clone_with(|(): &()| None).layer(throttled);
    let started = Instant::now();
    assert_eq!(service.clone().oneshot(()).await, Err(Failed::THROTTLED));
    assert_eq!(started.elapsed(), secs(0));
    let _ = service.clone().oneshot(()).await;
    let _ = service.oneshot(()).await;
    assert!(started.elapsed() >= secs(2), "{:?}: at the minimum rate, a send takes two seconds", started.elapsed());
}

// Tower's policy can change a request; here the function that clones it does.
// Rule W2.
#[tokio::test(start_paused = true)]
async fn a_clone_can_differ_from_the_first_request() {
    let (strategy, clones) = (standard(), Cell::new(0));
    let layer = RetryLayer::with_handle(&strategy).policy(errors()).clone_with(|_: &&str| {
        clones.set(clones.get() + 1);
        Some("retried")
    });
    let (service, mut handle) = mock::pair();
    let server = async {
        fail(&mut handle, "hello", "retry me").await;
        fail(&mut handle, "retried", "retry me").await;
        succeed(&mut handle, "retried", "world").await;
    };
    let (outcome, ()) = tokio::join!(layer.layer(service).oneshot("hello"), server);
    assert_eq!(outcome.unwrap(), "world");
    assert_eq!(clones.get(), 3, "one clone before each attempt");
}

#[tokio::test]
async fn no_debug_text_of_a_response_future_shows_the_request() {
    static STORE: StandardRetryStrategy = StandardRetryStrategy::new().name("store");
    static HEDGE: Hedge = Hedge::p95();

    async fn answer(request: String) -> Result<usize, Failed> {
        Ok(request.len())
    }

    let request = || "a secret".to_owned();
    let layer = RetryLayer::new(&STORE);
    let shown = format!("{layer:?}");
    assert!(shown.contains("store") && shown.contains("500"), "a layer shows its strategy: {shown}");
    let future = layer.clone().layer(service_fn(answer)).call(request());
    assert_eq!((format!("{future:?}").as_str(), future.await), ("ResponseFuture { .. }", Ok(8)));
    let future = layer.hedge(&HEDGE).layer(service_fn(answer)).call(request());
    assert_eq!((format!("{future:?}").as_str(), future.await), ("HedgedFuture { .. }", Ok(8)));
    let future = WithoutRetriesLayer::new().layer(service_fn(answer)).call(request());
    assert_eq!((format!("{future:?}").as_str(), future.await), ("WithoutRetriesFuture { .. }", Ok(8)));
}
