use retry_core::PatientRetryStrategy;
use retry_tower::RetryLayer;
use tower::{Service, ServiceBuilder, service_fn};

struct Failed;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

fn client() -> impl Service<u32, Response = (), Error = Failed> {
    let send = service_fn(|_: u32| async { Ok(()) });
    ServiceBuilder::new().layer(RetryLayer::new(&STORE)).service(send)
}

fn main() {}

// Rule W1.
