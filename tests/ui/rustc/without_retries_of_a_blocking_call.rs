use retry_core::{RetryInfo, StandardRetryStrategy, retry_blocking, without_retries};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn load() -> Result<(), Failed> {
    without_retries(|| retry_blocking(&STORE, || Ok(())).run())
}

async fn load_in_a_future() -> Result<(), Failed> {
    without_retries(retry_blocking(&STORE, || Ok(())).run()).await
}

fn main() {}
