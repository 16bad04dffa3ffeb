//! A first example: a service that fails twice, with each attempt printed.

use retry_core::{EvidenceRetryStrategy, RetryInfo, retryable};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(timeout)] // no answer in time: the request may have been carried out
    NoAnswer,
    Answer(#[retry(http_status)] u16), // 429 is throttling, 503 a server fault; 404 is not retried
}

// One strategy for each service that can fail independently: all calls that name it share its quota.
static STORE: EvidenceRetryStrategy = EvidenceRetryStrategy::standard();

#[retryable(strategy = STORE, idempotent)]
async fn get(key: &str) -> Result<String, StoreError> {
    match send(key) {
        Some(200) => Ok(format!("the content of {key}")),
        Some(status) => Err(StoreError::Answer(status)),
        None => Err(StoreError::NoAnswer),
    }
}

/// Stands in for an HTTP client. The first two requests fail.
fn send(key: &str) -> Option<u16> {
    static REQUESTS: AtomicU32 = AtomicU32::new(0);
    let status = [Some(503), Some(429), Some(200)][REQUESTS.fetch_add(1, Ordering::Relaxed) as usize];
    println!("GET {key}: {status:?}");
    status
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:?}", get("report.pdf").await);
}
