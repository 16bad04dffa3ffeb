use retry_core::{PatientRetryStrategy, RetryInfo, retry, retryable};
use std::collections::HashMap;

#[derive(RetryInfo)]
struct Failed;

struct Client {
    strategies: HashMap<String, PatientRetryStrategy>,
}

impl Client {
    #[retryable(strategy = self.strategies.get("store"))]
    async fn in_a_field(&self) -> Result<(), Failed> {
        Ok(())
    }
}

#[retryable(strategy = strategy)]
async fn in_an_argument(strategy: Option<&PatientRetryStrategy>) -> Result<(), Failed> {
    Ok(())
}

async fn in_a_closure(strategy: Option<&PatientRetryStrategy>) -> Result<(), Failed> {
    retry(strategy, || async { Ok(()) }).run().await
}

fn main() {}
