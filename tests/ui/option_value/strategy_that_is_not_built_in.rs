use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = "concurrency")]
async fn concurrency() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "paced")]
async fn paced() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
