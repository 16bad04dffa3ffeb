use retry_core::{StandardRetryStrategy, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn get() -> std::io::Result<String> {
    Ok(String::new())
}

fn main() {}
