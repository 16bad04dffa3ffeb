//! A stack of layers around an HTTP client, with the retry layer of retry-core.

use migration::FlakyService;
use reqwest::{Client, Error, Method, Request, Response};
use retry_core::classify::Classification;
use retry_core::classify::http;
use retry_core::tower::RetryLayer;
use retry_core::{RetryDirective, RetrySafety, StandardRetryPolicy, StandardRetryStrategy, policy_fn};
use std::time::{Duration, SystemTime};
use tower::{Service, ServiceBuilder, ServiceExt};

static API: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

fn judge(outcome: &Result<Response, Error>) -> RetryDirective {
    let verdict = match outcome {
        Ok(response) if response.status().as_u16() < 400 => return RetryDirective::succeed(),
        Ok(response) => http::response(response.status(), response.headers(), SystemTime::now()),
        Err(error) if error.is_connect() || error.is_timeout() => Classification::new(RetrySafety::Maybe),
        Err(_) => Classification::new(RetrySafety::No),
    };
    StandardRetryPolicy::new().idempotent(true).evaluate_error(&verdict)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let layer = RetryLayer::new(&API).policy(policy_fn(judge)).clone_with(Request::try_clone);
    let mut stack = ServiceBuilder::new().layer(layer).service(Client::new());

    let service = FlakyService::start();
    for path in ["/report", "/missing"] {
        let request = Request::new(Method::GET, service.url(path).parse().expect("a valid URL"));
        let outcome = stack.ready().await.expect("a client is always ready").call(request).await;
        service.print(path, outcome.is_ok_and(|response| response.status().is_success()));
    }
}
