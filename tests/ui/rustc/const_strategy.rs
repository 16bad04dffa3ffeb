use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

const FRESH: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = FRESH)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}

// Rule M7.
