use retry_core::{RetryDirective, RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn judge(_: &Result<(), Failed>) -> RetryDirective {
    RetryDirective::succeed()
}

#[retryable(strategy = STORE, policy = judge)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
