use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, crate = "retry_core")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[derive(RetryInfo)]
#[retry(crate = "retry_core")]
struct Quoted;

fn main() {}
