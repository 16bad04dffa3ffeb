//! The errors of tower's own layers.

use super::standard;
use crate::support::{assert_send, millis, secs};
use ::tower::buffer::Buffer;
use ::tower::load_shed::error::Overloaded;
use ::tower::timeout::error::Elapsed;
use ::tower::{BoxError, Layer, Service, ServiceBuilder, ServiceExt, service_fn};
use retry_core::classify::{Classification, chain};
use retry_core::{
    ChainPolicy, RetryDirective, RetryErrorType, RetryInfo, RetryQuota, RetrySafety, StandardRetryStrategy,
};
use retry_tower::{RetryLayer, tower05};
use std::cell::Cell;
use std::future::{Ready, pending, ready};
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use tokio::time::{Instant, sleep};

/// A classification as `(safety, timeout, throttling)`.
fn parts(known: Option<Classification>) -> Option<(RetrySafety, bool, bool)> {
    known.map(|it| (it.is_retry_safe(), it.is_timeout(), it.is_throttle()))
}

/// A service that is never ready: readiness fails.
#[derive(Clone)]
struct Broken;

impl Service<()> for Broken {
    type Response = ();
    type Error = BoxError;
    type Future = Ready<Result<(), BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into()))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        ready(Ok(()))
    }
}

// Rule W10.
#[tokio::test(start_paused = true)]
async fn the_errors_of_towers_layers_are_known() {
    let elapsed: BoxError = Elapsed::new().into();
    assert_eq!(parts(tower05::classify(&elapsed)), Some((RetrySafety::Maybe, true, false)));
    let overloaded: BoxError = Overloaded::new().into();
    assert_eq!(parts(tower05::classify(&overloaded)), Some((RetrySafety::Yes, false, true)));
    // A link below another error.
    let wrapped: BoxError = std::io::Error::other(Overloaded::new()).into();
    assert_eq!(parts(tower05::classify(&wrapped)), Some((RetrySafety::Yes, false, true)));
    assert_eq!(parts(tower05::classify(&BoxError::from("no layer of tower"))), None);

    // The worker of this buffer is dropped.
    let (buffer, worker) = Buffer::pair(service_fn(|(): ()| ready(Ok::<_, BoxError>(()))), 1);
    drop(worker);
    let closed = buffer.oneshot(()).await.unwrap_err();
    assert_eq!(parts(tower05::classify(&closed)), Some((RetrySafety::No, false, false)));
    // The service of this buffer fails, and its error is the next link.
    let failed = Buffer::new(Broken, 1).oneshot(()).await.unwrap_err();
    assert_eq!(failed.to_string(), "buffered service failed: connection refused");
    assert_eq!(parts(tower05::classify(&failed)), Some((RetrySafety::Yes, false, false)));
}

// Rule W10.
#[tokio::test(start_paused = true)]
async fn a_stall_is_retried_after_the_timeout_of_a_layer_below() {
    for (policy, attempts) in [
        (tower05::policy().idempotent(true), 2),
        (ChainPolicy::new().also(tower05::link).idempotent(true), 2),
        (tower05::policy().idempotent(false), 1),
        (ChainPolicy::new().idempotent(true), 1),
    ] {
        let (strategy, calls, started) = (standard(), Cell::new(0), Instant::now());
        let service = service_fn(|()| {
            calls.set(calls.get() + 1);
            let stalls = calls.get() == 1;
            async move { if stalls { pending().await } else { Ok::<_, BoxError>(()) } }
        });
        let layer = RetryLayer::with_handle(&strategy).policy(policy);
        let sent = ServiceBuilder::new().layer(layer).timeout(millis(300)).service(service).oneshot(()).await;
        assert_eq!((sent.is_ok(), calls.get()), (attempts == 2, attempts));
        assert_eq!(started.elapsed() >= millis(300) + secs(1), attempts == 2);
    }
}

// Rule W10.
#[tokio::test(start_paused = true)]
async fn a_shed_request_is_retried_after_the_backoff_of_throttling() {
    static STORE: StandardRetryStrategy = standard();
    static CALLS: AtomicU32 = AtomicU32::new(0);

    let below = ServiceBuilder::new().load_shed().concurrency_limit(1).service(service_fn(|()| async {
        CALLS.fetch_add(1, Ordering::Relaxed);
        sleep(millis(500)).await;
        Ok::<_, BoxError>(())
    }));
    let stack = RetryLayer::new(&STORE).policy(tower05::policy()).layer(below);
    let started = Instant::now();
    // One of them is shed first. It is not idempotent, but it was not sent.
    let (first, second) = tokio::join!(assert_send(stack.clone().oneshot(())), stack.oneshot(()));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(started.elapsed(), secs(1) + millis(500), "the backoff of throttling, and an attempt");
    assert_eq!((CALLS.load(Ordering::Relaxed), STORE.quota().available()), (2, 500 - 5 + 2), "the cost of throttling");
}

#[derive(Debug, RetryInfo)]
struct StoreError(#[retry(with = tower05::classify)] BoxError);

// Rule W10.
#[test]
fn a_field_is_classified_by_the_errors_of_towers_layers() {
    let error = StoreError(Overloaded::new().into());
    assert_eq!(Classification::of(&error), Classification::new(RetrySafety::Yes).with_throttling());
    assert_eq!(tower05::policy().evaluate_error(&error.0), RetryDirective::retry(RetryErrorType::Throttling));
    assert_eq!(chain::known(&error.0), None, "without the module");
}
