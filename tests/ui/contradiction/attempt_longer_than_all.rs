use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, max_time = "1m", attempt_timeout = "61s")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, attempt_timeout = "2h", max_time = "1h")]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
