use retry_core::{RetryInfo, StandardRetryStrategy, retry, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
struct Failed;

struct Answer {
    tokens: u64,
}

async fn ask() -> Result<Answer, Failed> {
    Ok(Answer { tokens: 7 })
}

#[retryable(strategy = STORE, used = |outcome| outcome.as_ref().ok().map(|answer| answer.tokens))]
async fn optional() -> Result<Answer, Failed> {
    ask().await
}

#[retryable(strategy = STORE, used = |outcome| outcome.as_ref().map_or(0.0, |answer| answer.tokens as f64))]
async fn float() -> Result<Answer, Failed> {
    ask().await
}

async fn closure() -> Result<Answer, Failed> {
    retry(&STORE, ask).used(|outcome| outcome.as_ref().ok().map(|answer| answer.tokens)).run().await
}

fn main() {}
