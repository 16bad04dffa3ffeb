use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
enum Failure {
    #[retry = "throttling"]
    A,
    #[retry("throttling")]
    B,
    #[retry("http_status = 429")]
    C,
    #[retry = "nothing"]
    D,
    #[retry("nothing")]
    E,
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, "idempotent", transparent)]
async fn get() -> Result<(), Failure> {
    Ok(())
}

fn main() {}
