use retry_tower::RetryLayer;
use retry_core::{RetryInfo, StandardRetryStrategy};
use tower::{Service, ServiceBuilder, service_fn};

#[derive(RetryInfo)]
struct Failed;

struct Request;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn client() -> impl Service<Request, Response = (), Error = Failed> {
    let send = service_fn(|_: Request| async { Ok(()) });
    ServiceBuilder::new().layer(RetryLayer::new(&STORE)).service(send)
}

fn main() {}
