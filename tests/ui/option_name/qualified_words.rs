//! A qualified word is explained by its last name.

use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
enum Failed {
    #[retry(retry_core::throttling)]
    Busy,
    #[retry(backoff::retryable = false)]
    Refused(#[retry(http::status)] u16),
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, retry_core::timeout = "1s")]
async fn word_of_another_library() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, tokio_retry::max_attempts = 3)]
async fn option() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, tokio_retry::mx_attempts = 3)]
async fn misspelled() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, backon::backoff = 3)]
async fn setting_of_the_strategy() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, backon::whatever = 3)]
async fn unknown() -> Result<(), Failed> {
    Ok(())
}

// This path is a value. The word of its last name would be a guess.
#[retryable(strategies::timr)]
async fn value() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
