use async_trait::async_trait;
use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

struct Client(u32);

impl Client {
    #[retryable(strategy = STORE)]
    async fn get(mut self) -> Result<(), Failed> {
        self.0 += 1;
        Ok(())
    }
}

#[async_trait]
trait Close {
    async fn close(self) -> Result<(), Failed>;
}

#[async_trait]
impl Close for Client {
    #[retryable(strategy = STORE)]
    async fn close(mut self) -> Result<(), Failed> {
        self.0 += 1;
        Ok(())
    }
}

fn main() {}
