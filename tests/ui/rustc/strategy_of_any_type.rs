use retry_core::{RetryInfo, RetryStrategy, retryable};
use std::sync::Arc;

#[derive(RetryInfo)]
struct Failed;

struct Client {
    strategy: Arc<dyn RetryStrategy>,
}

impl Client {
    #[retryable(strategy = self.strategy)]
    async fn get(&self) -> Result<(), Failed> {
        Ok(())
    }
}

fn main() {}
