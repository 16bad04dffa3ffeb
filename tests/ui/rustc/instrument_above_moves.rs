use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[tracing::instrument]
#[retryable(strategy = STORE)]
async fn get(key: String) -> Result<usize, Failed> {
    Ok(key.len())
}

fn main() {}
