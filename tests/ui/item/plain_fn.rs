use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
fn get() -> Result<(), Failed> {
    Ok(())
}

// No mistake follows from another one.
#[retryable(strategy = STORE, blockng)]
fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
