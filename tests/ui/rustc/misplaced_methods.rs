use retry_tower::RetryLayer;
use retry_core::{ChainPolicy, Hedge, RetryInfo, StandardRetryPolicy, StandardRetryStrategy, TimedOut, retry, retry_blocking};
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

async fn jitter() -> Result<(), Failed> {
    retry(&STORE, get).jitter(retry_core::Jitter::None).run().await
}

async fn max_retries() -> Result<(), Failed> {
    retry(&STORE, get).max_retries(3).run().await
}

async fn timeout() -> Result<(), Failed> {
    retry(&STORE, get).timeout(Duration::from_secs(3)).run().await
}

async fn max_attempts() -> Result<(), Failed> {
    retry(&STORE, get).idempotent(true).hedge(&GET).max_attempts(3).run().await
}

fn backoff() -> Result<(), Failed> {
    retry_blocking(&STORE, || Ok(())).backoff(Duration::from_secs(1), Duration::from_secs(20)).run()
}

async fn max_time() -> Result<(), Failed> {
    retry(&STORE, get).idempotent(true).hedge(&GET).max_time(Duration::from_secs(3)).run().await
}

async fn after_stop_when() -> Result<(), Failed> {
    retry(&STORE, get).stop_when(std::future::ready(())).max_time(Duration::from_secs(3)).run().await
}

fn stop_when() -> Result<(), Failed> {
    retry_blocking(&STORE, || Ok(())).stop_when(std::future::ready(())).run()
}

async fn policy_after_idempotent() -> Result<(), Failed> {
    retry(&STORE, get).idempotent(false).policy(StandardRetryPolicy::new()).run().await
}

async fn policy_after_when() -> Result<(), Failed> {
    retry(&STORE, get).when(|_| true).policy(StandardRetryPolicy::new()).run().await
}

async fn policy_after_used() -> Result<(), Failed> {
    retry(&STORE, get).used(|_| 1).policy(StandardRetryPolicy::new()).run().await
}

async fn policy_after_policy() -> Result<(), Failed> {
    retry(&STORE, get).policy(ChainPolicy::new()).policy(StandardRetryPolicy::new()).run().await
}

fn layers() {
    let _ = RetryLayer::new(&STORE).max_attempts(3);
    let _ = RetryLayer::new(&STORE).idempotent(true).hedge(&GET).max_time(Duration::from_secs(3));
    let _ = RetryLayer::new(&STORE).idempotent(false).policy(StandardRetryPolicy::new());
    let _ = RetryLayer::new(&STORE).idempotent(false).policy_with(|_: &u8| StandardRetryPolicy::new());
    let _ = RetryLayer::new(&STORE).policy_with(|_: &u8| StandardRetryPolicy::new()).policy(ChainPolicy::new());
}

fn main() {}
