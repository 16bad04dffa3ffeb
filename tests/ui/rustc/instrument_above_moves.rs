use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[tracing::instrument(skip_all)]
#[retryable(strategy = "standard")]
async fn get(key: String) -> Result<usize, Failed> {
    Ok(key.len())
}

fn main() {}
