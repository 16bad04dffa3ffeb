use retry_core::{RetryInfo, StandardRetryPolicy, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static POLICY: StandardRetryPolicy = StandardRetryPolicy::new();
static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, idempotent, policy = POLICY)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
