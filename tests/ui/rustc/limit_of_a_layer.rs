use retry_core::{RetryInfo, StandardRetryStrategy};
use retry_tower::RetryLayer;
use std::time::Duration;
use tower::{Service, ServiceBuilder, service_fn};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn client() -> impl Service<u32, Response = (), Error = Failed> {
    let send = service_fn(|_: u32| async { Ok(()) });
    ServiceBuilder::new().layer(RetryLayer::new(&STORE).max_time(Duration::from_secs(9))).service(send)
}

fn main() {}

// Rules T1, W1.
