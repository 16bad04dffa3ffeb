use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, policy, timer("now"), on_end)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
