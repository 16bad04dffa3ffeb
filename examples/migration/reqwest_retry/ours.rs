//! An HTTP client, with the middleware of retry-clients.

use migration::FlakyService;
use reqwest::Client;
use reqwest_middleware::{ClientBuilder, ClientWithMiddleware, Error};
use retry_clients::reqwest_middleware05::RetryMiddleware;
use retry_core::PatientRetryStrategy;
use std::time::Duration;

static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

async fn get(client: &ClientWithMiddleware, url: &str) -> Result<String, Error> {
    Ok(client.get(url).send().await?.error_for_status()?.text().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = ClientBuilder::new(Client::new()).with(RetryMiddleware::new(&API)).build();

    let service = FlakyService::start();
    for path in ["/report", "/missing"] {
        let outcome = get(&client, &service.url(path)).await;
        service.print(path, outcome.is_ok());
    }
}
