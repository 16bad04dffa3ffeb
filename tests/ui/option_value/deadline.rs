use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", deadline = "30s")]
async fn a_duration() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", deadline = 30, on_retry)]
async fn a_number_and_no_closure() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", deadline)]
async fn without_a_value() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
