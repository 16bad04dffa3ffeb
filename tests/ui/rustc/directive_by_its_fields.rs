use retry_core::{RetryDirective, RetryErrorType, RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn again() -> RetryDirective {
    RetryDirective::Retry { error_type: RetryErrorType::Other, retry_after: None }
}

#[retryable(strategy = STORE, policy = |_| again())]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
