use retry_core::{ErasedStrategy, RetryInfo, RetryStrategy, StandardRetryStrategy, retryable};
use std::sync::Arc;

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = StandardRetryStrategy::new())]
async fn owned() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = *Box::new(StandardRetryStrategy::new()))]
async fn unboxed() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = Arc::new(StandardRetryStrategy::new()))]
async fn pointer() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = { ErasedStrategy::new(StandardRetryStrategy::new()) })]
async fn erased() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = retry)]
async fn argument(retry: StandardRetryStrategy) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = retry, blocking)]
fn generic<S: RetryStrategy>(retry: S) -> Result<(), Failed> {
    Ok(())
}

fn main() {}
