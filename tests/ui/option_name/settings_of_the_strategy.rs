use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, attempts = 3, delay = 1, retry_after = "1s", retry_if = is_busy)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[derive(RetryInfo)]
enum Failure {
    #[retry(idempotent)]
    A,
}

fn main() {}
