use retry_core::{RetryInfo, StandardRetryStrategy, retry_blocking};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {
    let _ = retry_blocking(&STORE, get).run();
}
