use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling, fault = "client", throttling)]
    A,
    #[retry(fault = "client")]
    #[retry(fault = "server")]
    B,
}

#[retryable(strategy = STORE, strategy = STORE)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, clone(key, key))]
async fn put(key: String) -> Result<String, Failed> {
    Ok(key)
}

fn main() {}
