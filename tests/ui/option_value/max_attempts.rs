use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", max_attempts = 0)]
async fn f0() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", max_attempts = "2")]
async fn f1() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", max_attempts = 5000000000)]
async fn f2() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", max_attempts)]
async fn f3() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
