use async_trait::async_trait;
use retry_core::retryable;

struct NoInfo;

#[async_trait]
trait Store {
    async fn get(&self, key: &str) -> Result<usize, NoInfo>;
}

struct Client;

#[async_trait]
impl Store for Client {
    #[retryable(strategy = "standard")]
    async fn get(&self, key: &str) -> Result<usize, NoInfo> {
        Ok(key.len())
    }
}

#[retryable(strategy = "standard")]
fn future() -> impl Future<Output = Result<usize, NoInfo>> {
    async move { Ok(1) }
}

fn main() {}
