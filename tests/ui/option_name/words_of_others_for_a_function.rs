use retry_core::{PatientRetryStrategy, RetryInfo, retryable};

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

#[derive(RetryInfo)]
enum Failed {
    #[retry(max_attempts = 3)]
    A,
    #[retry(max_retries = 3)]
    B,
    #[retry(non_idempotent)]
    C,
    #[retry(connection)]
    D,
    #[retry(busy)]
    E,
}

#[retryable(strategy = STORE, non_idempotent)]
async fn pay() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, max_retries = 3, timeout = "2s", total_timeout = "2s")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, backoff_base = "50ms", initial_delay = "50ms", max_wait_for_service = "1m")]
async fn list() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, retry_on = is_busy, tries = 3)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
