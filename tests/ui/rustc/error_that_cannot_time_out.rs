use retry_core::{RetryInfo, StandardRetryStrategy, retry, retry_blocking, retryable};
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

#[retryable(strategy = STORE, deadline = std::time::Instant::now(), blocking)]
fn blocking() -> Result<(), Failed> {
    Ok(())
}

fn call_blocking() {
    let call = retry_blocking(&STORE, || Err::<(), _>(Failed)).max_time(Duration::from_secs(30));
    let _ = call.run();
}

async fn call() {
    let _ = retry(&STORE, || async { Err::<(), _>(Failed) }).max_time(Duration::from_secs(30)).run().await;
}

fn main() {
    call_blocking();
    let _ = call();
}

// Rule T13.
