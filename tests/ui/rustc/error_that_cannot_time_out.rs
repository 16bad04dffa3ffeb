use retry_core::{RetryInfo, StandardRetryStrategy, retry, retryable};
use std::time::Duration;

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, max_time = "30s")]
async fn limited() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, attempt_timeout = "30s")]
async fn each_limited() -> Result<(), Failed> {
    Ok(())
}

async fn call() {
    let _ = retry(&STORE, || async { Err::<(), _>(Failed) }).max_time(Duration::from_secs(30)).run().await;
}

fn main() {
    let _ = call();
}

// Rule T13.
