use retry_core::{PatientRetryStrategy, RetryInfo};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

#[retry(strategy = STORE)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
