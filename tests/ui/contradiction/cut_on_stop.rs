use retry_core::{RetryInfo, StandardRetryStrategy, Stop, TimedOut, retryable};

#[derive(RetryInfo)]
#[retry(transparent)]
struct Failed(TimedOut);

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static STOP: Stop = Stop::new();

#[retryable(strategy = STORE, cut_on_stop)]
async fn nothing_stops_it() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop = STOP, blocking, cut_on_stop)]
fn blocks() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop = STOP, cut_on_stop = true)]
async fn with_a_value() -> Result<(), Failed> {
    Ok(())
}

// No mistake follows from another one.
#[retryable(strategy = STORE, stop = "STOP", cut_on_stop)]
async fn stop_in_quotes() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stopp = STOP, cut_on_stop)]
async fn stop_misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop_when = , cut_on_stop)]
async fn stop_when_without_value() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, cancel = token, cut_on_stop)]
async fn stop_of_another_library(token: &str) -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, abort = STOP, cut_on_stop)]
async fn another_stop_of_another_library() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
