use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, idempotent, hedge = "20s", max_time = "10s")]
async fn after_all() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent, hedge = "3s", attempt_timeout = "1s")]
async fn after_the_attempt() -> Result<(), Failed> {
    Ok(())
}

// The limit is asked first. The shorter limit is reported, once.
#[retryable(strategy = STORE, idempotent, max_time = "10s", attempt_timeout = "1s", hedge = "1s")]
async fn at_the_same_time() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent, max_time = "2s", attempt_timeout = "3s", hedge = "4s")]
async fn after_both() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent, max_time = "0s", hedge = "50ms")]
async fn without_time() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
// Rule V11.
