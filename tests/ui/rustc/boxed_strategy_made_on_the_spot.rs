use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = *Box::new(StandardRetryStrategy::new()))]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
