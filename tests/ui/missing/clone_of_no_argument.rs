use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, clone(kee))]
async fn get(key: String, _: u32) -> Result<String, Failed> {
    Ok(key)
}

#[retryable(strategy = STORE, clone(key))]
async fn list() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
