use retry_core::{ChainPolicy, StandardRetryStrategy, retry, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, policy = ChainPolicy::new())]
async fn get() -> Result<(), String> {
    Ok(())
}

async fn put() -> Result<(), String> {
    Ok(())
}

async fn call() {
    let _ = retry(&STORE, put).policy(ChainPolicy::new()).run().await;
}

fn main() {
    let _ = call();
}
