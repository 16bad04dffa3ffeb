use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, retry_forever)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strateggy = STORE)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
