//! A stack of layers around an HTTP client, with the retry layer of retry-core.

use migration::FlakyService;
use reqwest::{Client, Method, Request};
use retry_clients::reqwest013;
use retry_core::PatientRetryStrategy;
use retry_tower::RetryLayer;
use std::time::Duration;
use tower::{Service, ServiceBuilder, ServiceExt};

static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let layer = RetryLayer::new(&API)
        .policy_with(|request: &Request| reqwest013::response_policy().for_method(request.method()))
        .clone_with(Request::try_clone);
    let mut stack = ServiceBuilder::new().layer(layer).service(Client::new());

    let service = FlakyService::start();
    for path in ["/report", "/missing"] {
        let request = Request::new(Method::GET, service.url(path).parse().expect("a valid URL"));
        let outcome = stack.ready().await.expect("a client is always ready").call(request).await;
        service.print(path, outcome.is_ok_and(|response| response.status().is_success()));
    }
}
