use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling, fault: "client")]
    A,
}

#[retryable(strategy: STORE, max_time: "30s")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
