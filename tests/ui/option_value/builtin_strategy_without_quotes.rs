use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = adaptive)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
