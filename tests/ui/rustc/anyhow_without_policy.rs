use retry_core::{StandardRetryStrategy, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn fetch() -> anyhow::Result<()> {
    Ok(())
}

fn main() {
    let _ = fetch();
}
