use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry(fault = "serverr")]
    A,
    #[retry(fault = "nobody")]
    B,
    #[retry(safe = "yess")]
    C,
    #[retry(safe = true)]
    D,
}

#[retryable(strategy = "standart")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
