use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

struct Config {
    retry: StandardRetryStrategy,
}

const CONFIG: Config = Config { retry: StandardRetryStrategy::new() };

#[retryable(strategy = CONFIG.retry)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
