use retry_core::{PatientRetryStrategy, RetryInfo, retry};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

async fn get() -> Result<(), Failed> {
    Ok(())
}

async fn forgets() -> Result<(), Failed> {
    retry(&STORE, || get()).run()
}

fn main() {
    let _ = forgets();
}
