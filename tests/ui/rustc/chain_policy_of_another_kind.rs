use retry_core::classify::chain;
use retry_core::{ChainPolicy, StandardRetryStrategy, retry, retryable};
use std::io;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
const OWNERS: ChainPolicy = ChainPolicy::new();
const ERRORS: ChainPolicy<chain::Concrete> = ChainPolicy::new();

#[retryable(strategy = STORE, policy = OWNERS)]
async fn get() -> io::Result<()> {
    Ok(())
}

#[retryable(strategy = STORE, policy = ERRORS)]
async fn put() -> anyhow::Result<()> {
    Ok(())
}

async fn read() -> io::Result<()> {
    Ok(())
}

async fn call() -> io::Result<()> {
    retry(&STORE, read).policy(OWNERS).run().await
}

fn main() {
    let _ = call();
}
