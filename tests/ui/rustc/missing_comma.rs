use retry_core::{Event, RetryInfo, StandardRetryStrategy, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = STORE, on_retry = |error: &Failed, event: &Event| drop((error, event)) idempotent)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
