use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retry_blocking};
use std::time::Duration;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

fn get() -> Result<(), Failed> {
    Ok(())
}

fn limited() {
    let _ = retry_blocking(&STORE, || get()).attempt_timeout(Duration::from_secs(1)).run();
}

fn main() {}

// Rule T11.
