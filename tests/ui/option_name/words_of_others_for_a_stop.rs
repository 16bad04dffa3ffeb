use retry_core::{RetryInfo, StandardRetryStrategy, Stop, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static STOP: Stop = Stop::new();

#[retryable(strategy = STORE, cancel = STOP)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, shutdown = STOP)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, cancellation_token = STOP)]
async fn list() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, cancelled = STOP)]
async fn delete() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
