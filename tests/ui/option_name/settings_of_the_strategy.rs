use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, max_attempts = 3, delay = 1)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
