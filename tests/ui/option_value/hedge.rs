use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

#[retryable(strategy = "standard", idempotent, hedge)]
async fn without_a_delay() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedge = "p99")]
async fn another_share() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedge = p95)]
async fn without_quotes() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedge = 50)]
async fn without_a_unit() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedge = retry_core::Hedge::p95())]
async fn made_in_each_call() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = "standard", idempotent, hedged = "p95")]
async fn another_name() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
