//! `weight` and `used` need a value.

use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, weight, used)]
async fn send() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
