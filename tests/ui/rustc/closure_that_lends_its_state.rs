use retry_core::{PatientRetryStrategy, RetryInfo, retry};

#[derive(RetryInfo)]
struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

async fn lends(mut sent: Vec<u32>) -> Result<(), Failed> {
    let call = retry(&STORE, || async {
        sent.push(1);
        Err(Failed)
    });
    call.run().await
}

async fn store(_: String) -> Result<(), Failed> {
    Ok(())
}

async fn gives_away(key: String) -> Result<(), Failed> {
    retry(&STORE, || async move { store(key).await }).run().await
}

fn main() {
    let _ = (lends(Vec::new()), gives_away(String::new()));
}
