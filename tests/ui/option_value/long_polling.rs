use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static QUEUE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = QUEUE, long_polling = "20s")]
async fn receive() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = QUEUE, long_polling = false)]
async fn receive_one() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
