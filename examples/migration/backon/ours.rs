//! An HTTP request, retried with retry-core.

use migration::FlakyService;
use reqwest::{Client, Error};
use retry_core::{PatientRetryStrategy, retry};
use std::time::Duration;

static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

async fn get(client: &Client, url: &str) -> Result<String, Error> {
    client.get(url).send().await?.error_for_status()?.text().await
}

fn is_transient(error: &Error) -> bool {
    let status = error.status().map_or(0, |status| status.as_u16());
    error.is_connect() || error.is_timeout() || matches!(status, 429 | 500..=599)
}

async fn get_with_retries(client: &Client, url: &str) -> Result<String, Error> {
    retry(&API, || get(client, url))
        .when(is_transient)
        .on_retry(|error, event| eprintln!("{error}: {}", event.kind.as_str()))
        .run()
        .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (client, service) = (Client::new(), FlakyService::start());
    for path in ["/report", "/missing"] {
        let outcome = get_with_retries(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
