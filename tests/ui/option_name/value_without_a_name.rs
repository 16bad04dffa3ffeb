use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
enum Failure {
    #[retry("throttling")]
    A,
}

#[retryable(STORE)]
async fn get() -> Result<(), Failed> {
    Ok(())
}

#[retryable("standard")]
async fn put() -> Result<(), Failed> {
    Ok(())
}

#[retryable(&STORE)]
async fn list() -> Result<(), Failed> {
    Ok(())
}

#[retryable(pool())]
async fn delete() -> Result<(), Failed> {
    Ok(())
}

struct Client {
    retry: StandardRetryStrategy,
}

impl Client {
    #[retryable(self.retry)]
    async fn get(&self) -> Result<(), Failed> {
        Ok(())
    }
}

fn main() {}
