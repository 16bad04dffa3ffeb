use retry_core::{RetryDirective, RetryInfo, StandardRetryPolicy, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static POLICY: StandardRetryPolicy = StandardRetryPolicy::new();
static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, idempotent, policy = POLICY)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent = is_read, policy = POLICY)]
async fn send(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, policy = POLICY, idempotent = "no")]
async fn put() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent = is_read, policy = |_| RetryDirective::succeed())]
async fn poll(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

// With a hedge, it says that two attempts may run at the same time.
#[retryable(strategy = STORE, idempotent = is_read, hedge = "p95", policy = POLICY)]
async fn race(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent, hegde = "p95", policy = POLICY)]
async fn race_misspelled() -> Result<(), Failed> {
    Ok(())
}

// A policy that can't be read is not missing.
#[retryable(strategy = STORE, idempotent = is_read, policy)]
async fn list(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent = is_read, policy = )]
async fn find(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent = is_read, polizy = POLICY)]
async fn count(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, idempotent = is_read, hedge = "p95", policy(POLICY))]
async fn race_again(is_read: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, policy(POLICY))]
async fn forget() {}

#[retryable(strategy = STORE, idempotent, polizy = |_| RetryDirective::succeed())]
async fn poll_again() -> Result<(), Failed> {
    Ok(())
}

// A word of another library may be no policy.
#[retryable(strategy = STORE, idempotent, when = is_busy)]
async fn wait() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
