use retry_core::{Report, RetryInfo, retryable};

#[derive(Debug, RetryInfo)]
struct Failed;

struct Log;

// Neither a closure nor a function.
#[retryable(strategy = "standard", on_end = Log)]
async fn logged() -> Result<(), Failed> {
    Ok(())
}

// It takes no argument.
#[retryable(strategy = "standard", on_end = || ())]
async fn closed() -> Result<(), Failed> {
    Ok(())
}

// The outcome has another type, and the mistake is reported once, although there is a time limit.
#[retryable(strategy = "standard", on_end = |report| report.outcome.missing(), deadline = std::time::Instant::now())]
async fn missing() -> Result<(), Late> {
    Ok(())
}

fn of_another_outcome(_: &Report<&u32>) {}

#[retryable(strategy = "standard", blocking, on_end = of_another_outcome)]
fn mistaken() -> Result<(), Failed> {
    Ok(())
}

#[derive(RetryInfo)]
#[retry(transparent)]
struct Late(retry_core::TimedOut);

impl From<retry_core::TimedOut> for Late {
    fn from(error: retry_core::TimedOut) -> Self {
        Self(error)
    }
}

fn main() {
    let _ = (logged(), closed(), missing(), mistaken());
}
