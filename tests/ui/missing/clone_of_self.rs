use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

struct Client;

impl Client {
    #[retryable(strategy = STORE, clone(self))]
    async fn get(self) -> Result<(), Failed> {
        Ok(())
    }
}

fn main() {}
