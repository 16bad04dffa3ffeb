use retry_core::{RetryInfo, TimedOut, retryable};
use std::time::Duration;

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", deadline = Duration::from_secs(30))]
async fn get() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
