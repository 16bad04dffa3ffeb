use retry_core::{Hedge, RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

const GET: Hedge = Hedge::p95();
static NUMBER: u32 = 5;

#[retryable(strategy = "standard", idempotent, hedge = GET)]
async fn constant() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedge = NUMBER)]
async fn another_type() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedge = "p95")]
async fn used_up(name: String) -> Result<(), Failed> {
    drop(name);
    Ok(())
}

fn main() {}

// Rule V11.
