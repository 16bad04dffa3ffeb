use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

struct Client(Vec<u8>);

impl Client {
    #[retryable(strategy = STORE)]
    async fn elided(&mut self, key: &str) -> Result<&[u8], Failed> {
        Ok(&self.0)
    }

    #[retryable(strategy = STORE)]
    async fn named<'a>(&self, buffer: &'a mut Vec<u8>) -> Result<std::slice::Iter<'a, u8>, Failed> {
        Ok(buffer.iter())
    }
}

#[retryable(strategy = STORE)]
async fn only(buffer: &mut Vec<u8>) -> Result<std::slice::Iter<'_, u8>, Failed> {
    Ok(buffer.iter())
}

#[retryable(strategy = STORE)]
async fn pinned(key: std::pin::Pin<&mut String>) -> Result<&str, Failed> {
    Ok(key.get_mut())
}

fn main() {}
