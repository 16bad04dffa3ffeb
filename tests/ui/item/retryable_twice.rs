use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
#[retryable(strategy = "standard")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retry_core::retryable(strategy = STORE, blocking)]
#[inline]
#[retry_core::retryable(strategy = "standard", blocking)]
fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
