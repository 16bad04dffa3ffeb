use retry_core::{PatientRetryStrategy, RetryInfo, retry, retry_with_context};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

fn get() -> Result<(), Failed> {
    Ok(())
}

async fn without_a_context() -> Result<(), Failed> {
    retry(&STORE, || get()).run().await
}

async fn with_a_context() -> Result<(), Failed> {
    retry_with_context(&STORE, |_| get()).run().await
}

async fn not_started() {
    retry(&STORE, get).await;
}

fn main() {}
