//! The README's example, with its attempts printed.

use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling, fault = "client")]
    SlowDown,
    #[retry(timeout)]
    NoAnswer,
    #[retry(fault = "client")]
    NoSuchKey,
}

// One strategy for each resource that can be in trouble: all calls that name it share its retry quota.
static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn get(key: &str) -> Result<String, StoreError> {
    // One attempt. The first one is told to slow down, the second one gets no answer.
    static ATTEMPTS: AtomicU32 = AtomicU32::new(1);
    let attempt = ATTEMPTS.fetch_add(1, Ordering::Relaxed);
    let outcome = match attempt {
        _ if key.is_empty() => Err(StoreError::NoSuchKey),
        1 => Err(StoreError::SlowDown),
        2 => Err(StoreError::NoAnswer),
        _ => Ok(format!("the content of {key}")),
    };
    println!("attempt {attempt}: {outcome:?}");
    outcome
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StoreError> {
    let object = get("report.pdf").await?;
    println!("got {object}");
    Ok(())
}
