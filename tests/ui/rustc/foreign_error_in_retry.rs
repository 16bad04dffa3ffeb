use retry_core::{StandardRetryStrategy, retry, retry_blocking};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

async fn get() -> std::io::Result<()> {
    Ok(())
}

async fn report() {
    retry(&STORE, || get()).report().await;
}

fn blocking() {
    let _ = retry_blocking(&STORE, || std::fs::remove_file("copy")).run();
}

fn main() {}
