use retry_core::{StandardRetryStrategy, retry};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

async fn get() -> std::io::Result<()> {
    Ok(())
}

async fn report() {
    retry(&STORE, || get()).report().await;
}

fn main() {}
