use retry_core::{RetryInfo, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", timed_out = Failed)]
async fn f0() -> Result<(), Failed> {
    Ok(())
}

// No mistake follows from another one.
#[retryable(strategy = "standard", timed_out = Failed, max_time = 30)]
async fn limit_without_unit() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", timed_out = Failed, deadline)]
async fn limit_without_value() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", timed_out = Failed, atempt_timeout = "1s")]
async fn limit_misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", timed_out = Failed, timeout = "1s")]
async fn limit_of_another_library() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", timed_out = Failed, max_duraton = "1s")]
async fn limit_of_another_library_misspelled() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
