use retry_core::{RetryInfo, retryable};

#[derive(Debug, RetryInfo)]
struct Failed;

#[tokio::main(flavor = "current_thread")]
#[retryable(strategy = "standard")]
async fn main() -> Result<(), Failed> {
    Ok(())
}

#[tokio::test]
#[retryable(strategy = "standard")]
async fn test() -> Result<(), Failed> {
    Ok(())
}
