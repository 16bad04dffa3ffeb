//! An HTTP client, with the middleware of reqwest-retry.

use migration::FlakyService;
use reqwest::Client;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error};
use reqwest_retry::RetryTransientMiddleware;
use reqwest_retry::policies::ExponentialBackoff;
use std::time::Duration;

async fn get(client: &ClientWithMiddleware, url: &str) -> Result<String, Error> {
    Ok(client.get(url).send().await?.error_for_status()?.text().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let backoff = ExponentialBackoff::builder()
        .retry_bounds(Duration::from_millis(10), Duration::from_secs(1))
        .build_with_max_retries(4);
    let retries = RetryTransientMiddleware::new_with_policy(backoff);
    let client = ClientBuilder::new(Client::new()).with(retries).build();

    let service = FlakyService::start();
    for path in ["/report", "/missing"] {
        let outcome = get(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
