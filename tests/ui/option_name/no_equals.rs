use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling, fault: "client")]
    A,
    #[retry(retry_after "3s")]
    B,
}

#[retryable(strategy: STORE, max_time: "30s")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy STORE, max_attempts 3)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
