//! An HTTP client, with retry-core and the errors of reqwest from retry-clients.

use migration::FlakyService;
use reqwest::Client;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{StandardRetryStrategy, retryable};
use std::time::Duration;

static API: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

#[retryable(strategy = API, idempotent)]
async fn get(client: &Client, url: &str) -> Result<String, ClientError> {
    Ok(client.get(url).send().await?.error_for_response().await?.text().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (client, service) = (Client::new(), FlakyService::start());
    for path in ["/report", "/missing"] {
        let outcome = get(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
