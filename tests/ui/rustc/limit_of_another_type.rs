use retry_core::{PatientRetryStrategy, RetryInfo, TimedOut, retry, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

const SECONDS: u64 = 30;

#[retryable(strategy = "standard", max_time = SECONDS)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", attempt_timeout = Some(SECONDS))]
async fn put() -> Result<(), Failed> {
    Ok(())
}

async fn closure() -> Result<(), Failed> {
    let _ = retry(&STORE, get).attempt_timeout(SECONDS);
    retry(&STORE, get).max_time("30s").run().await
}

fn main() {}
