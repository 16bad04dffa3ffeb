use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn get(key: String) -> Result<String, Failed> {
    Ok(key)
}

#[retryable(strategy = STORE, blocking)]
fn put(key: String) -> Result<String, Failed> {
    Ok(key)
}

fn main() {}

// Rule M3.
