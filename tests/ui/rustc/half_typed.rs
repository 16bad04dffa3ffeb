//! What isn't code yet is explained where it stands, and neither the function nor the impls are said to be missing.

use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(Debug, RetryInfo)]
#[retry(throttl)]
struct Failed;

#[retryable(strategy = STORE)]
async fn half(key: &str) -> Result<usize, Failed> {
    let length = ;
    key.
}

#[retryable(strategy = STORE)]
async fn whole(key: &str) -> Result<usize, Failed> {
    half(key).await
}

fn main() {
    let _ = whole("key");
}
