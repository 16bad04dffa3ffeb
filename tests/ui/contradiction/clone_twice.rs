use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, clone(key, key))]
async fn get(key: String) -> Result<String, Failed> {
    Ok(key)
}

fn main() {}
