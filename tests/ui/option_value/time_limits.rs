use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", max_time, attempt_timeout = 5)]
async fn without_a_time_and_without_a_unit() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", max_time = "half a minute", attempt_timeout = "0s")]
async fn no_duration_and_no_time() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", max_time = std::time::Duration::from_millis(0), attempt_timeout = std::time::Duration::ZERO)]
async fn no_time_in_an_expression() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", timeout = "5s")]
async fn another_word() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
