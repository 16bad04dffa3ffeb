use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, stop_when = "token.cancelled()")]
async fn text() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop_when = || std::future::ready(()))]
async fn closure() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop_when)]
async fn nothing() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
