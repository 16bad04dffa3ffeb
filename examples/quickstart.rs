//! A first example: a service that fails twice, with each attempt printed.

use retry_core::{PatientRetryStrategy, RetryInfo, retryable};

static STORE: PatientRetryStrategy = PatientRetryStrategy::new(); // one for each service

#[derive(Debug, RetryInfo)]
enum StoreError {
    Answer(#[retry(http_status)] u16), // 503 is retried, 404 is not
    #[retry(timeout)]
    NoAnswer,
}

#[retryable(strategy = STORE, idempotent, context = context)]
async fn get(key: &str) -> Result<String, StoreError> {
    println!("attempt {}: GET {key}", context.attempt());
    match context.attempt() {
        1 => Err(StoreError::Answer(503)), // in place of an HTTP client
        2 => Err(StoreError::NoAnswer),
        _ => Ok(format!("the content of {key}")),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    println!("{:?}", get("report.pdf").await);
}
