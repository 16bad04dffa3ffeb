use retry_core::{Event, RetryInfo, StandardRetryStrategy, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = STORE, on_retry = |error: &Failed, event: &Event| drop((error, event)) idempotent)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

// No mistake follows from another one.
#[retryable(strategy = STORE, blocking max_time = "1s")]
fn put() -> Result<(), Failed> {
    Ok(())
}

#[derive(RetryInfo)]
#[retry(throttling never)]
struct Busy;

#[retryable(strategy = STORE blocking)]
fn list() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
