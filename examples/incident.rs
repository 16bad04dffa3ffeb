//! An incident: an operator switches the retries of one strategy off and on while the program runs.
//!
//! `cargo run --example incident`

use axum::{Router, extract::Path, routing::put};
use retry_core::{PatientRetryStrategy, RetryInfo, retry};
use std::time::Duration;
use tokio::net::TcpListener;

#[derive(Debug, RetryInfo)]
#[retry(throttling)]
struct SlowDown;

/// The backoff is short, to keep the example fast.
static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(10), Duration::from_millis(50));

/// Handles `PUT /retries/off` and `PUT /retries/on`. A real server asks who the operator is.
async fn switch(Path(state): Path<String>) -> String {
    STORE.set_enabled(state != "off");
    format!("retries are {state}")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let admin = format!("http://{}/retries", listener.local_addr()?);
    let router = Router::new().route("/retries/{state}", put(switch));
    tokio::spawn(async { axum::serve(listener, router).await });

    let operator = reqwest::Client::new();
    for state in ["on", "off", "on"] {
        println!("{}", operator.put(format!("{admin}/{state}")).send().await?.text().await?);
        let report = retry(&STORE, async || Err::<(), _>(SlowDown)).report().await;
        println!("  attempts: {}, then: {}", report.attempts, report.reason.expect("the service is down"));
    }
    Ok(())
}
