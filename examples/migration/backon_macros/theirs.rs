//! An HTTP request, retried with the attribute of backon.

use backon::ExponentialBuilder;
use backon_macros::backon;
use migration::FlakyService;
use reqwest::{Client, Error};
use std::time::Duration;

#[derive(Debug)]
enum ApiError {
    Answered(u16),
    Unanswered(Error),
}

fn is_transient(error: &ApiError) -> bool {
    match error {
        ApiError::Answered(status) => matches!(status, 429 | 500..=599),
        ApiError::Unanswered(error) => error.is_connect() || error.is_timeout(),
    }
}

fn backoff() -> ExponentialBuilder {
    ExponentialBuilder::default()
        .with_min_delay(Duration::from_millis(10))
        .with_max_delay(Duration::from_secs(1))
        .with_max_times(4)
        .with_jitter()
}

#[backon(backoff = backoff, when = is_transient)]
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
