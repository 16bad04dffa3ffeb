use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
