//! A weight is a `u32`, and what was used is an `Option` of one.

use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(Debug, RetryInfo)]
struct Failed;

#[retryable(strategy = STORE, weight = prompt.len())]
async fn a_length(prompt: &str) -> Result<(), Failed> {
    Ok(println!("{prompt}"))
}

#[retryable(strategy = STORE, used = |outcome| outcome.unwrap_or(0))]
async fn a_number() -> Result<u32, Failed> {
    Ok(1)
}

fn main() {}
