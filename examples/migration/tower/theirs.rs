//! A stack of layers around an HTTP client, with the retry layer of tower.

use migration::FlakyService;
use reqwest::{Client, Error, Method, Request, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Sleep;
use tower::retry::backoff::{Backoff, ExponentialBackoff, ExponentialBackoffMaker, MakeBackoff};
use tower::retry::budget::{Budget, TpsBudget};
use tower::retry::{Policy, RetryLayer};
use tower::util::rng::HasherRng;
use tower::{Service, ServiceBuilder, ServiceExt};

#[derive(Clone)]
struct ApiPolicy {
    retries: u32,
    backoff: ExponentialBackoff,
    budget: Arc<TpsBudget>,
}

impl Policy<Request, Response, Error> for ApiPolicy {
    type Future = Sleep;

    fn retry(&mut self, _: &mut Request, outcome: &mut Result<Response, Error>) -> Option<Sleep> {
        let is_transient = match outcome {
            Ok(response) => matches!(response.status().as_u16(), 429 | 500..=599),
            Err(error) => error.is_connect() || error.is_timeout(),
        };
        if !is_transient {
            self.budget.deposit();
            return None;
        }
        if self.retries == 4 || !self.budget.withdraw() {
            return None;
        }
        self.retries += 1;
        Some(self.backoff.next_backoff())
    }

    fn clone_request(&mut self, request: &Request) -> Option<Request> {
        request.try_clone()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (shortest, longest) = (Duration::from_millis(10), Duration::from_secs(1));
    let mut backoff = ExponentialBackoffMaker::new(shortest, longest, 0.99, HasherRng::new()).expect("valid settings");
    let policy = ApiPolicy { retries: 0, backoff: backoff.make_backoff(), budget: Arc::default() };
    let mut stack = ServiceBuilder::new().layer(RetryLayer::new(policy)).service(Client::new());

    let service = FlakyService::start();
    for path in ["/report", "/missing"] {
        let request = Request::new(Method::GET, service.url(path).parse().expect("a valid URL"));
        let outcome = stack.ready().await.expect("a client is always ready").call(request).await;
        service.print(path, outcome.is_ok_and(|response| response.status().is_success()));
    }
}
