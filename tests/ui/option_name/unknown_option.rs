use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry(frequently)]
    A,
    #[retry(throtling)]
    B,
    #[retry(retryafter = "1s")]
    C,
    #[retry(retryble)]
    D,
}

#[retryable(strategy = STORE, retry_forever)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strateggy = STORE)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, ma)]
async fn list() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, max_atempts = 3)]
async fn delete() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, on_stop = |_| ())]
async fn head() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
