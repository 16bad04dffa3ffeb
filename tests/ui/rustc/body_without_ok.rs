use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn send() {}

#[retryable(strategy = STORE)]
async fn get() -> Result<(), Failed> {
    send();
}

#[retryable(strategy = STORE)]
async fn empty() -> Result<(), Failed> {}

#[retryable(strategy = STORE, blocking)]
fn put() -> Result<(), Failed> {
    send();
}

fn main() {}
