use retry_tower::RetryLayer;
use retry_core::{Hedge, RetryInfo, StandardRetryStrategy, retry};
use std::sync::LazyLock;
use std::time::Duration;

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static GET: Hedge = Hedge::p95();
static PUT: LazyLock<Hedge> = LazyLock::new(|| Hedge::after(Duration::from_secs(1)));
const LIST: Hedge = Hedge::p95();

async fn call() -> Result<(), Failed> {
    Ok(())
}

async fn in_each_call() -> Result<(), Failed> {
    retry(&STORE, call).hedge(&Hedge::p95()).run().await
}

async fn constant() -> Result<(), Failed> {
    retry(&STORE, call).hedge(&LIST).run().await
}

async fn variable() -> Result<(), Failed> {
    let hedge = Hedge::p95();
    retry(&STORE, call).hedge(&hedge).run().await
}

struct Client {
    hedge: Hedge,
}

impl Client {
    async fn field(&self) -> Result<(), Failed> {
        retry(&STORE, call).hedge(&self.hedge).run().await
    }
}

fn layer() {
    let _ = RetryLayer::new(&STORE).hedge(&Hedge::p95());
}

async fn accepted() -> Result<(), Failed> {
    retry(&STORE, call).hedge(&GET).run().await?;
    retry(&STORE, call).hedge(&PUT).run().await
}

fn main() {}

// Rule V11.
