use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
enum Failure {
    #[retry(!retryable)]
    A,
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, !idempotent)]
async fn pay() -> Result<(), Failure> {
    Err(Failure::A)
}

fn main() {}
