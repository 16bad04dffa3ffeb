use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

const ATTEMPTS: u32 = 2;

#[retryable(strategy = "standard", max_attempts = ATTEMPTS)]
async fn f0() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", max_attempts = 1 + 1)]
async fn f1() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
