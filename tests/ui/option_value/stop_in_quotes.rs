use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, stop = "STOP")]
async fn text() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop = true)]
async fn flag() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
