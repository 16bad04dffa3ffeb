use retry_core::{PatientRetryStrategy, RetryInfo, retry};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

async fn send(_: u32) -> Result<(), Failed> {
    Ok(())
}

async fn numbered() -> Result<(), Failed> {
    retry(&STORE, |context| send(context.attempt())).run().await
}

fn main() {
    let _ = numbered();
}
