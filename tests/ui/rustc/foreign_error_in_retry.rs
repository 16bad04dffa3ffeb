use retry_core::{StandardRetryStrategy, retry};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

async fn get() -> std::io::Result<()> {
    retry(&STORE, || async { Ok(()) }).await
}

fn main() {}
