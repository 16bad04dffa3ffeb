//! An HTTP request, retried with tokio-retry.

use migration::FlakyService;
use reqwest::{Client, Error};
use std::time::Duration;
use tokio_retry::RetryIf;
use tokio_retry::strategy::{ExponentialBackoff, jitter};

async fn get(client: &Client, url: &str) -> Result<String, Error> {
    client.get(url).send().await?.error_for_status()?.text().await
}

fn is_transient(error: &Error) -> bool {
    let status = error.status().map_or(0, |status| status.as_u16());
    error.is_connect() || error.is_timeout() || matches!(status, 429 | 500..=599)
}

async fn get_with_retries(client: &Client, url: &str) -> Result<String, Error> {
    // 2^n times 5 ms: the number that looks like the first delay is the base of the power.
    let backoff = ExponentialBackoff::from_millis(2).factor(5).max_delay(Duration::from_secs(1));
    RetryIf::start(backoff.map(jitter).take(4), || get(client, url), is_transient).await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (client, service) = (Client::new(), FlakyService::start());
    for path in ["/report", "/missing"] {
        let outcome = get_with_retries(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
