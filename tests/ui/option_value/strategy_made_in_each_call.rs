use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
use std::sync::Arc;

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = &StandardRetryStrategy::new())]
async fn borrowed() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = Arc::<StandardRetryStrategy>::default())]
async fn default() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
