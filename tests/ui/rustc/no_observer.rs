use retry_core::{Event, RetryInfo, StandardRetryStrategy, retry, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, observer = |_: &Event| {})]
async fn get() -> Result<(), Failed> {
    Ok(())
}

async fn call() {
    let _ = retry(&STORE, get).observer(()).run().await;
}

fn main() {
    let _ = call();
}
