use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(STORE)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable("standard")]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
