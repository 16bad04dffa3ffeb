//! An HTTP request, retried in a loop of its own.

use migration::FlakyService;
use reqwest::{Client, Error};
use std::time::Duration;
use tokio::select;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

async fn get(client: &Client, url: &str) -> Result<String, Error> {
    client.get(url).send().await?.error_for_status()?.text().await
}

fn is_transient(error: &Error) -> bool {
    let status = error.status().map_or(0, |status| status.as_u16());
    error.is_connect() || error.is_timeout() || matches!(status, 429 | 500..=599)
}

async fn get_with_retries(
    client: &Client,
    url: &str,
    tries: u32,
    cancel: &CancellationToken,
) -> Option<Result<String, Error>> {
    let mut failures = 0;
    while !cancel.is_cancelled() {
        let error = match get(client, url).await {
            Err(error) if is_transient(&error) => error,
            outcome => return Some(outcome),
        };
        failures += 1;
        if failures == tries {
            return Some(Err(error));
        }
        println!("failed ({} tries remaining)", tries - failures);
        select! {
            () = sleep(Duration::from_millis(10 << failures.min(6))) => {}
            () = cancel.cancelled() => {}
        }
    }
    None
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let client = Client::new();
    let cancel = CancellationToken::new();
    for (path, tries) in [("/report", 5), ("/missing", 5), ("/report", 2)] {
        let service = FlakyService::start();
        let outcome = get_with_retries(&client, &service.url(path), tries, &cancel).await;
        service.print(path, outcome.is_some_and(|outcome| outcome.is_ok()));
    }
    cancel.cancel();
    let service = FlakyService::start();
    let outcome = get_with_retries(&client, &service.url("/report"), 5, &cancel).await;
    service.print("/report", outcome.is_some_and(|outcome| outcome.is_ok()));
}
