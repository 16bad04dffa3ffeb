use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retryable};
use std::future::ready;

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, blocking, stop_when = ready(()))]
fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
