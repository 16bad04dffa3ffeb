//! A suggestion says which of its options are given already.

use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, retryable};

#[derive(RetryInfo)]
enum Failed {
    #[retry(throttling, throttled)]
    Busy,
    #[retry(never)]
    #[retry(nevr)]
    Refused,
    #[retry(transparent)]
    NoAnswer(TimedOut),
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, attempt_timeout = "1s", timeout = "1s")]
async fn one_of_two() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, timeut = "1s", attempt_timeout = "1s", max_time = "5s")]
async fn both() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, max_attempts = 2, max_atempts = 3)]
async fn misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, stop_when = token.cancelled(), cancel = token)]
async fn with_an_example(token: &str) -> Result<(), Failed> {
    Ok(())
}

fn main() {}
