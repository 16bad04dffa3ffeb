use retry_core::{RetryInfo, StandardRetryStrategy, retry};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

async fn get() -> Result<(), Failed> {
    Ok(())
}

async fn without_closure() {
    let _ = retry(&STORE, get()).run();
}

async fn without_run() {
    let _ = retry(&STORE, get).await;
}

fn main() {}
