//! Code whose operations make one attempt each, because its caller retries.

use crate::support::{Failed, secs};
use ::tower::{Service, ServiceBuilder, ServiceExt, service_fn};
use retry_core::{
    Jitter, Report, RetryError, RetryQuota, RetryStrategy, StandardRetryStrategy, retries_enabled, retry,
    retry_blocking, retryable, without_retries, without_retries_blocking,
};
use retry_limits::PacedRetryStrategy;
use retry_tower::WithoutRetriesLayer;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const fn standard() -> StandardRetryStrategy {
    StandardRetryStrategy::new().jitter(Jitter::Fixed(1.0))
}

async fn fails<S: RetryStrategy>(strategy: &S) -> Report<Result<(), Failed>> {
    retry(strategy, async || {
        sleep(Duration::from_millis(1)).await;
        Err(Failed::THROTTLED)
    })
    .report()
    .await
}

const DISABLED: (u32, Option<RetryError>) = (1, Some(RetryError::Disabled));

static STORE: StandardRetryStrategy = standard();

#[retryable(strategy = STORE)]
async fn load(attempts: &Cell<u32>) -> Result<(), Failed> {
    attempts.set(attempts.get() + 1);
    Err(Failed::SAFE)
}

// Rule R21.
#[tokio::test(start_paused = true)]
async fn each_operation_inside_makes_one_attempt_and_pays_nothing() {
    let store = standard();
    let report = without_retries(fails(&store)).await;
    assert_eq!((report.attempts, report.reason), DISABLED);
    assert_eq!(store.quota().available(), 500);
    let paced = PacedRetryStrategy::new();
    let report = without_retries(fails(&paced)).await;
    assert_eq!((report.attempts, report.reason), DISABLED);
    let attempts = Cell::new(0);
    without_retries(load(&attempts)).await.unwrap_err();
    assert_eq!(attempts.take(), 1);
    load(&attempts).await.unwrap_err();
    assert_eq!(attempts.take(), 5, "outside, operations retry");
}

// Rule R21.
#[test]
fn a_blocking_function_inside_makes_one_attempt() {
    let store = standard().backoff(Duration::ZERO, Duration::ZERO);
    let fails = || retry_blocking(&store, || Err::<(), _>(Failed::SAFE)).report();
    let report = without_retries_blocking(fails);
    assert_eq!((report.attempts, report.reason), DISABLED);
    assert_eq!(fails().attempts, 5);
    // The end of an inner scope is not the end of the outer one.
    let nested = without_retries_blocking(|| (without_retries_blocking(fails).attempts, fails().attempts));
    assert_eq!((nested, fails().attempts), ((1, 1), 5));
}

// Rule R21.
#[tokio::test(start_paused = true)]
async fn a_layer_of_a_server_lets_its_handlers_make_one_attempt() {
    let handler = service_fn(async |()| Ok::<_, Failed>(fails(&standard()).await.attempts));
    let server = ServiceBuilder::new().layer(WithoutRetriesLayer::new()).service(handler);
    assert_eq!(server.clone().oneshot(()).await, Ok(1));
    assert_eq!(handler.oneshot(()).await, Ok(5));
    // What a service does when it is called belongs to the request, too, and what it does to become ready does not.
    let in_call = |(): ()| {
        let is_enabled = retries_enabled();
        async move { Ok::<_, Failed>(is_enabled) }
    };
    let mut server = ServiceBuilder::new().layer(WithoutRetriesLayer::new()).service(service_fn(in_call));
    assert_eq!(server.ready().await.unwrap().call(()).await, Ok(false));
    assert!(retries_enabled());
}

// Rule R21.
#[tokio::test(start_paused = true)]
async fn operations_beside_it_retry() {
    let (one, other) = (standard(), standard());
    let (inside, beside) = tokio::join!(without_retries(fails(&one)), fails(&other));
    assert_eq!((inside.attempts, beside.attempts), (1, 5));
    let spawned = without_retries(async {
        assert!(!retries_enabled());
        let task = tokio::spawn(async { fails(&standard()).await.attempts });
        let thread = std::thread::spawn(retries_enabled).join().unwrap();
        (task.await.unwrap(), thread)
    });
    assert_eq!(spawned.await, (5, true), "neither tasks nor threads are inside");
    let nested = without_retries(async {
        let attempts = without_retries(fails(&standard())).await.attempts;
        (attempts, fails(&standard()).await.attempts)
    });
    assert_eq!(nested.await, (1, 1));
}

// Rule R21.
#[test]
fn a_panic_inside_ends_it() {
    let panicked = catch_unwind(|| without_retries_blocking(|| panic!("in a test")));
    assert!(panicked.is_err() && retries_enabled());
    let mut future = Box::pin(without_retries(async { panic!("in a test") }));
    let panicked = catch_unwind(AssertUnwindSafe(|| crate::support::poll_once(future.as_mut())));
    assert!(panicked.is_err() && retries_enabled());
    // A future that is dropped before its end is not inside, either.
    crate::support::poll_once(Box::pin(without_retries(std::future::pending::<()>())).as_mut());
    assert!(retries_enabled());
}

/// Three levels of five attempts each, and the requests that reach the last service.
async fn three_levels(of_level: [&StandardRetryStrategy; 3], requests: &Cell<u32>, is_shielded: bool) {
    let last = async || {
        let send = async || {
            requests.set(requests.get() + 1);
            Err::<(), _>(Failed::SAFE)
        };
        retry(of_level[2], send).run().await
    };
    let middle = async || retry(of_level[1], last).run().await;
    let first = async || if is_shielded { without_retries(middle()).await } else { middle().await };
    retry(of_level[0], first).run().await.unwrap_err();
}

// The numbers are in docs/choosing.md.
// Rule R21.
#[tokio::test(start_paused = true)]
async fn three_levels_make_125_requests_of_one_call_and_five_if_those_below_do_not_retry() {
    let level = || standard().max_attempts(5).quota_capacity(1_000_000);
    let (levels, requests, started) = ([level(), level(), level()], Cell::new(0), Instant::now());
    three_levels(levels.each_ref(), &requests, false).await;
    assert_eq!((requests.take(), started.elapsed()), (125, secs(31 * 15)));
    let started = Instant::now();
    three_levels(levels.each_ref(), &requests, true).await;
    assert_eq!((requests.take(), started.elapsed()), (5, secs(15)));
}
