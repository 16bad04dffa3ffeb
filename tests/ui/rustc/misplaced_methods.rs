use retry_core::tower::RetryLayer;
use retry_core::{Hedge, RetryInfo, StandardRetryStrategy, TimedOut, retry, retry_blocking};
use std::time::Duration;

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static GET: Hedge = Hedge::p95();

async fn get() -> Result<(), Failed> {
    Ok(())
}

async fn on_end() -> Result<(), Failed> {
    retry(&STORE, get).on_end(|report| println!("{}", report.attempts)).run().await
}

async fn max_attempts() -> Result<(), Failed> {
    retry(&STORE, get).max_attempts(3).run().await
}

fn backoff() -> Result<(), Failed> {
    retry_blocking(&STORE, || Ok(())).backoff(Duration::from_secs(1), Duration::from_secs(20)).run()
}

async fn max_time() -> Result<(), Failed> {
    retry(&STORE, get).idempotent(true).hedge(&GET).max_time(Duration::from_secs(3)).run().await
}

fn layers() {
    let _ = RetryLayer::new(&STORE).max_attempts(3);
    let _ = RetryLayer::new(&STORE).idempotent(true).hedge(&GET).max_time(Duration::from_secs(3));
}

fn main() {}
