use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
use std::sync::OnceLock;

#[derive(RetryInfo)]
struct Failed;

struct Client {
    retries: Option<StandardRetryStrategy>,
}

impl Client {
    #[retryable(strategy = self.retries)]
    async fn get(&self) -> Result<(), Failed> {
        Ok(())
    }
}

static CELL: OnceLock<StandardRetryStrategy> = OnceLock::new();

thread_local! {
    static LOCAL: StandardRetryStrategy = StandardRetryStrategy::new();
}

#[retryable(strategy = CELL)]
async fn cell() -> Result<(), Failed> {
    Ok(())
}

#[retryable(strategy = LOCAL, blocking)]
fn local() -> Result<(), Failed> {
    Ok(())
}

fn main() {}
