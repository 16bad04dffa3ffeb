//! An HTTP client, with retry-core.

use migration::FlakyService;
use reqwest::{Client, Error, Response};
use retry_core::classify::{Classification, http};
use retry_core::{RetryInfo, StandardRetryStrategy, retryable};
use std::time::{Duration, SystemTime};

static API: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

#[derive(Debug, RetryInfo)]
enum ApiError {
    Answered(#[retry(transparent)] Classification),
    Unanswered(#[retry(with = is_transient)] Error),
}

fn is_transient(error: &Error) -> bool {
    error.is_connect() || error.is_timeout()
}

fn judge(response: Response) -> Result<Response, ApiError> {
    match response.status() {
        status if status.is_success() => Ok(response),
        status => Err(ApiError::Answered(http::response(status, response.headers(), SystemTime::now()))),
    }
}

#[retryable(strategy = API, idempotent)]
async fn get(client: &Client, url: &str) -> Result<String, ApiError> {
    let response = judge(client.get(url).send().await.map_err(ApiError::Unanswered)?)?;
    response.text().await.map_err(ApiError::Unanswered)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (client, service) = (Client::new(), FlakyService::start());
    for path in ["/report", "/missing"] {
        let outcome = get(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
