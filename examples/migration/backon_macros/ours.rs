//! An HTTP request, retried with the attribute of retry-core.

use migration::FlakyService;
use reqwest::{Client, Error};
use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
use std::time::Duration;

#[derive(Debug, RetryInfo)]
enum ApiError {
    Answered(#[retry(http_status)] u16),
    Unanswered(#[retry(with = is_transient)] Error),
}

fn is_transient(error: &Error) -> bool {
    error.is_connect() || error.is_timeout()
}

static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

#[retryable(strategy = API, idempotent)]
async fn get(client: &Client, url: &str) -> Result<String, ApiError> {
    let response = client.get(url).send().await.map_err(ApiError::Unanswered)?;
    match response.status().as_u16() {
        200 => response.text().await.map_err(ApiError::Unanswered),
        status => Err(ApiError::Answered(status)),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (client, service) = (Client::new(), FlakyService::start());
    for path in ["/report", "/missing"] {
        let outcome = get(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
