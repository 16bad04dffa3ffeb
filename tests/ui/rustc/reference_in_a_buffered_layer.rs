use retry_tower::RetryLayer;
use retry_core::{Event, Observer, RetryDirective, StandardRetryStrategy, policy_fn};
use std::convert::Infallible;
use tower::{ServiceBuilder, ServiceExt, service_fn};

struct Events;

impl Observer for Events {
    fn observe(&self, _: &Event) {}
}

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
static EVENTS: Events = Events;

fn main() {
    tokio::spawn(async {
        let layer = RetryLayer::new(&STORE).policy(policy_fn(judge)).observer(&EVENTS);
        let stack = ServiceBuilder::new().buffer(8).layer(layer).service(service_fn(send));
        stack.oneshot(1).await
    });
}

fn judge(_: &Result<u32, Infallible>) -> RetryDirective {
    RetryDirective::succeed()
}

async fn send(request: u32) -> Result<u32, Infallible> {
    Ok(request)
}

// Rule W6.
