use retry_core::{RetryInfo, StandardRetryStrategy, Stop, retry, retry_blocking, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static STOP: Stop = Stop::new();

#[retryable(strategy = STORE, stop = STOP)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn call_blocking() -> std::fmt::Result {
    retry_blocking(&STORE, || Err(std::fmt::Error)).when(|_| true).stop(&STOP).run()
}

async fn write() -> std::fmt::Result {
    Ok(())
}

async fn call() -> std::fmt::Result {
    retry(&STORE, write).when(|_| true).stop(&STOP).run().await
}

fn main() {}
