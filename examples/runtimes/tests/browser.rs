//! Runs the timer for browsers in Node.js: `.ci/browser`.
#![cfg(target_arch = "wasm32")]

use retry_core::{
    AttemptContext, Clock, PatientRetryStrategy, RetryInfo, TimedOut, Timer, reseed, retry_with_context, retryable,
};
use runtimes::browser::{BrowserTimer, reseed_from_crypto};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use wasm_bindgen_test::wasm_bindgen_test;

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling)]
    SlowDown,
    #[retry(transparent)]
    NoAnswer(TimedOut),
}

impl From<TimedOut> for StoreError {
    fn from(error: TimedOut) -> Self {
        Self::NoAnswer(error)
    }
}

static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_secs(1));

static ATTEMPTS: AtomicU32 = AtomicU32::new(0);

#[retryable(strategy = STORE, timer = BrowserTimer, attempt_timeout = "100ms", max_time = "5s")]
async fn get(key: &str) -> Result<String, StoreError> {
    match ATTEMPTS.fetch_add(1, Ordering::Relaxed) {
        0 => Err(StoreError::SlowDown),
        1 => std::future::pending().await, // no answer: the attempt timeout ends it
        _ => Ok(format!("the content of {key}")),
    }
}

#[wasm_bindgen_test]
async fn a_backoff_ends_and_an_attempt_is_cut() {
    assert_eq!(get("report.pdf").await.unwrap(), "the content of report.pdf");
    assert_eq!(ATTEMPTS.load(Ordering::Relaxed), 3);
}

#[wasm_bindgen_test]
async fn a_sleep_lasts_as_long_as_the_clock_says() {
    let start = BrowserTimer.now();
    BrowserTimer.sleep(Duration::from_micros(4500)).await;
    assert!(BrowserTimer.now().saturating_since(start) >= Duration::from_millis(4));
}

/// Returns the id of an operation.
async fn id() -> u128 {
    let attempt = async |context: AttemptContext| Ok::<_, StoreError>(context.operation_id().as_u128());
    retry_with_context(&STORE, attempt).timer(BrowserTimer).run().await.unwrap()
}

#[wasm_bindgen_test]
async fn random_bits_of_the_host_decide_the_ids() {
    let before = id().await;
    reseed(7);
    let seven = id().await;
    assert!(reseed_from_crypto(), "Node.js has crypto from version 19 on");
    let random = id().await;
    assert!(before != seven && seven != random && random != before, "{before:x} {seven:x} {random:x}");
}
