use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
fn get() -> Result<(), Failed> {
    Ok(())
}

// No mistake follows from another one.
#[retryable(strategy = STORE, blockng)]
fn put() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, sync)]
fn list() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, retry_core::blocking)]
fn find() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, blocking, max_time: "1s")]
fn count() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, blocking, !idempotent)]
fn pay() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
