use retry_core::{PatientRetryStrategy, RetryInfo, retry};

#[derive(RetryInfo)]
struct Failed;

async fn get() -> Result<(), Failed> {
    Ok(())
}

async fn get_again() -> Result<(), Failed> {
    retry(PatientRetryStrategy, get).run().await
}

fn main() {}
