use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retry, retryable};
use std::sync::atomic::AtomicBool;
use tokio::sync::Notify;

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static FLAG: AtomicBool = AtomicBool::new(false);
static NOTIFY: Notify = Notify::const_new();

#[retryable(strategy = STORE, stop = FLAG)]
async fn flag() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, max_time = "30s", stop = NOTIFY)]
async fn notify() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop = stop, blocking)]
fn optional(stop: Option<&retry_core::Stop>) -> Result<(), Failed> {
    Ok(())
}

async fn closure() -> Result<(), Failed> {
    retry(&STORE, async || Ok(())).stop(&FLAG).run().await
}

fn main() {}
