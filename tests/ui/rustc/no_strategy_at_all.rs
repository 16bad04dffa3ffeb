use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
struct Failed;

struct Client {
    retries: u32,
}

impl Client {
    #[retryable(strategy = self.retries)]
    async fn get(&self) -> Result<(), Failed> {
        Ok(())
    }
}

fn main() {}
