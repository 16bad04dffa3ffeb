use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", name = 5)]
async fn f0() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", name)]
async fn f1() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
