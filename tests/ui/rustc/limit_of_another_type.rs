use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

const SECONDS: u64 = 30;

#[retryable(strategy = "standard", max_time = SECONDS)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", attempt_timeout = Some(SECONDS))]
async fn put() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
