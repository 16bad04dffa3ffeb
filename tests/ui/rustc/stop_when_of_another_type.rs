use retry_core::{RetryInfo, StandardRetryStrategy, Stop, TimedOut, retryable};
use std::future::Ready;
use std::rc::Rc;

#[derive(Debug, RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(error)
    }
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, stop_when = stop)]
async fn handle(stop: &Stop) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop_when = is_over)]
async fn flag(is_over: bool) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop_when = quit)]
async fn pointer(quit: Rc<Ready<()>>) -> Result<(), Failed> {
    Ok(())
}

#[derive(RetryInfo)]
struct NoTime;

#[retryable(strategy = STORE, stop_when = quit)]
async fn error_without_a_conversion(quit: Ready<()>) -> Result<(), NoTime> {
    Ok(())
}

fn main() {}
