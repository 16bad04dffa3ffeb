use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, clone)]
async fn get(key: String) -> Result<String, Failed> {
    Ok(key)
}

struct Client;

impl Client {
    #[retryable(strategy = STORE, clone(self))]
    async fn get(self) -> Result<(), Failed> {
        Ok(())
    }
}

fn main() {}
