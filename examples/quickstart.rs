//! A first example: a service that fails twice, with each attempt printed.

use retry_core::{EvidenceRetryStrategy, RetryInfo, retryable};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling)] // too many requests: it was turned away, so it is safe to send again
    SlowDown,
    #[retry(timeout)] // no answer: perhaps it was carried out, perhaps not
    NoAnswer,
    #[retry(fault = "client")] // the request was wrong, and would be wrong again
    NoSuchKey,
}

// One strategy for each resource that can be in trouble: all calls that name it share its retry quota.
static STORE: EvidenceRetryStrategy = EvidenceRetryStrategy::standard();

#[retryable(strategy = STORE)]
async fn get(key: &str) -> Result<String, StoreError> {
    match send(key).await {
        200 => Ok(format!("the content of {key}")),
        503 => Err(StoreError::SlowDown),
        504 => Err(StoreError::NoAnswer),
        _ => Err(StoreError::NoSuchKey),
    }
}

/// Stands in for an HTTP client. The first two requests fail.
#[expect(clippy::unused_async, reason = "a client would wait for the answer here")]
async fn send(key: &str) -> u16 {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(1);
    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    let status = match attempt {
        1 | 2 => 503,
        _ => 200,
    };
    println!("attempt {attempt} to get {key}: status {status}");
    status
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StoreError> {
    println!("{}", get("report.pdf").await?);
    Ok(())
}
