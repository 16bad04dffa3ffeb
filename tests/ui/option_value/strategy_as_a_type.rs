use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = PatientRetryStrategy)]
async fn patient() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = retry_limits::PacedRetryStrategy)]
async fn paced() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
