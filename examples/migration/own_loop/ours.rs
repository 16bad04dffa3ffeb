//! An HTTP request, retried with retry-core.

use migration::FlakyService;
use reqwest::Client;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{PatientRetryStrategy, retry};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_secs(1));

async fn get(client: &Client, url: &str) -> Result<String, ClientError> {
    Ok(client.get(url).send().await?.error_for_response().await?.text().await?)
}

async fn get_with_retries(
    client: &Client,
    url: &str,
    tries: u32,
    cancel: &CancellationToken,
) -> Result<String, ClientError> {
    retry(&API, || get(client, url))
        .idempotent(true)
        .max_attempts(tries)
        .on_retry(|_, event| {
            if event.kind.delay().is_some() {
                println!("failed ({} tries remaining)", tries - event.attempt);
            }
        })
        .stop_when(cancel.cancelled())
        .run()
        .await
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = Client::new();
    let cancel = CancellationToken::new();
    for (path, tries) in [("/report", 5), ("/missing", 5), ("/report", 2)] {
        let service = FlakyService::start();
        let outcome = get_with_retries(&client, &service.url(path), tries, &cancel).await;
        service.print(path, outcome.is_ok());
    }
    cancel.cancel();
    let service = FlakyService::start();
    let outcome = get_with_retries(&client, &service.url("/report"), 5, &cancel).await;
    service.print("/report", outcome.is_ok());
}
