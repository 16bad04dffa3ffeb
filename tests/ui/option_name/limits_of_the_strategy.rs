use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(
    strategy = STORE,
    max_rate = 100.0,
    rate = 100,
    rate_limit = 100,
    burst = 10,
    rejections = ServerErrors,
    max_in_flight = 20,
    concurrency = 20,
    max_retry_after = "1m",
    max_wait = "10s",
    max_wait_for_service = "10s",
    max_waiting = 100,
    idempotency_key = key,
)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
