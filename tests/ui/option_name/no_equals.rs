use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling, fault: "client")]
    A,
    #[retry(retry_after "3s")]
    B,
}

#[retryable(strategy: STORE, max_time: "30s")]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy STORE, max_attempts 3)]
async fn put() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy STORE max_attempts 3)]
async fn without_commas() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy & STORE, timer Steps::new(), max_time 3 + 4, max_attempts -3, on_end |report| drop(report))]
async fn values_of_several_tokens() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy: STORE max_attempts: 3, on_retry: |error, event| drop((error, event)))]
async fn colons() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = STORE, on_retry |error, event| drop((error, event)), max_time:)]
async fn cut_values() -> Result<(), Failed> {
    Ok(())
}

// These are options of other libraries, or belong on other items. Their messages say so at once.
#[retryable(strategy = STORE, timeout 3, backoff: EXPONENTIAL, throttling "yes")]
async fn other_words() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
