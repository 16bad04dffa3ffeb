use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn get(key: &str) -> Result<usize, Failed> {
    let length: u32 = key.len();
    Ok("three")
}

fn main() {}
