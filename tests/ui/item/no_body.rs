use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

trait Store {
    #[retryable(strategy = STORE)]
    async fn get(&self) -> Result<(), Failed>;
}

fn main() {}
