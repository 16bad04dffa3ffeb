use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, idempotent = "yes")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

const IDEMPOTENT: bool = true;

#[retryable(strategy = STORE, idempotent = IDEMPOTENT)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
