//! The program: a client of two resources, with a strategy for each, and its metrics.

use examples::reqwest_errors;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use retry_core::observe::metrics;
use retry_core::{AdaptiveRetryStrategy, RetryInfo, StandardRetryStrategy, retryable};
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

/// The names become the label `strategy`. The backoff is short, to keep the example fast.
static STORE: StandardRetryStrategy = named("store");
static TABLE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::over(named("table"));

const fn named(name: &'static str) -> StandardRetryStrategy {
    StandardRetryStrategy::new().name(name).backoff(Duration::from_millis(5), Duration::from_millis(50))
}

/// Why an attempt failed.
#[derive(Debug, thiserror::Error, RetryInfo)]
pub(crate) enum ApiError {
    /// The server answered with an error status.
    #[error("status {0}")]
    Answered(#[retry(http_status)] u16),

    /// The server gave no usable answer.
    #[error("no usable answer")]
    Unanswered(
        #[from]
        #[retry(with = reqwest_errors::judge)]
        reqwest::Error,
    ),
}

/// A client of the service.
pub(crate) struct Client {
    http: reqwest::Client,
    base: String,
}

impl Client {
    /// Creates a client of the server with this address.
    pub(crate) fn new(server: SocketAddr) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder().retry(reqwest::retry::never()).no_proxy().build()?;
        Ok(Self { http, base: format!("http://{server}") })
    }

    /// Reads an object of the store.
    #[retryable(strategy = STORE, idempotent)]
    async fn read(&self, key: &str) -> Result<(), ApiError> {
        self.get(&format!("/store/{key}")).await
    }

    /// Writes a row of the table.
    #[retryable(strategy = TABLE, idempotent)]
    async fn write(&self) -> Result<(), ApiError> {
        self.get("/table").await
    }

    async fn get(&self, path: &str) -> Result<(), ApiError> {
        let response = self.http.get(format!("{}{path}", self.base)).send().await?;
        if response.status().is_success() { Ok(()) } else { Err(ApiError::Answered(response.status().as_u16())) }
    }
}

/// Installs a recorder for Prometheus, and then the metrics of retried operations.
pub(crate) fn install_metrics() -> Result<PrometheusHandle, Box<dyn Error>> {
    let seconds = [0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0];
    let recorder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)?
        .set_buckets_for_metric(Matcher::Full("retry_operation_attempts".to_owned()), &[1.0, 2.0, 3.0, 5.0, 10.0])?
        .install_recorder()?;
    metrics::install()?;
    Ok(recorder)
}

/// The number of calls that [`run`] makes to each resource.
pub(crate) const READS: u32 = 30;
/// See [`READS`].
pub(crate) const WRITES: u32 = 150;

/// Calls both resources for a while. Some calls fail.
pub(crate) async fn run(client: &Client) {
    for key in 0..READS {
        // Each tenth object does not exist.
        let key = if key % 10 == 9 { "missing" } else { "object" };
        let _ = client.read(key).await;
    }
    for _ in 0..WRITES {
        let _ = client.write().await;
        // About a hundred rows a second, until the server throttles and the strategy slows down.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
