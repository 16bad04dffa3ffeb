use retry_core::{RetryInfo, TimedOut, retryable};
use std::pin::Pin;

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

#[retryable(strategy = "standard", blocking)]
async fn async_after_all() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", attempt_timeout = "5s", blocking)]
fn cut() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", blocking = true)]
fn with_a_value() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", blocking)]
fn returns_a_future() -> impl Future<Output = Result<(), Failed>> {
    async_after_all()
}

#[retryable(strategy = "standard", blocking)]
fn returns_a_boxed_future() -> Pin<Box<dyn Future<Output = Result<(), Failed>>>> {
    Box::pin(async_after_all())
}

fn main() {}

// Rule T11.
