//! The program: a client of four services, with a strategy for each, and its metrics.

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::observe::metrics;
use retry_core::{AdaptiveRetryStrategy, PatientRetryStrategy, StandardRetryStrategy, retryable};
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

/// The names become the label `strategy`. The backoff is short, to keep the example fast.
static STORE: PatientRetryStrategy = PatientRetryStrategy::new().name("store").backoff(BASE, CAP);
static TABLE: AdaptiveRetryStrategy =
    AdaptiveRetryStrategy::over(StandardRetryStrategy::new().name("table").backoff(BASE, CAP));

static INDEX: PatientRetryStrategy = PatientRetryStrategy::new().name("index").backoff(BASE, CAP);
static STOCK: PatientRetryStrategy = PatientRetryStrategy::new().name("stock").backoff(BASE, CAP);

const BASE: Duration = Duration::from_millis(5);
const CAP: Duration = Duration::from_millis(50);

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
    async fn read(&self, key: &str) -> Result<(), ClientError> {
        self.get(&format!("/store/{key}")).await
    }

    /// Writes a row of the table.
    #[retryable(strategy = TABLE, idempotent)]
    async fn write(&self) -> Result<(), ClientError> {
        self.get("/table").await
    }

    /// Looks a key up. Each answer that takes long gets a second request beside it.
    #[retryable(strategy = INDEX, idempotent, hedge = "10ms")]
    async fn look_up(&self) -> Result<(), ClientError> {
        self.get("/index").await
    }

    /// Asks the stock, whose first answer is a timeout. So the call waits for the service.
    #[retryable(strategy = STOCK, idempotent)]
    async fn pieces(&self) -> Result<(), ClientError> {
        self.get("/stock").await
    }

    async fn get(&self, path: &str) -> Result<(), ClientError> {
        self.http.get(format!("{}{path}", self.base)).send().await?.error_for_response().await?;
        Ok(())
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

/// The number of calls that [`run`] makes to each of the other services.
pub(crate) const READS: u32 = 30;
/// See [`READS`].
pub(crate) const WRITES: u32 = 150;
/// See [`READS`].
pub(crate) const LOOKUPS: u32 = 5;

/// Calls all services for a while. Some calls fail.
pub(crate) async fn run(client: &Client) {
    let _ = client.pieces().await;
    for key in 0..READS {
        // Each tenth object does not exist.
        let key = if key % 10 == 9 { "missing" } else { "object" };
        let _ = client.read(key).await;
    }
    for _ in 0..LOOKUPS {
        let _ = client.look_up().await;
    }
    for _ in 0..WRITES {
        let _ = client.write().await;
        // About a hundred rows a second, until the server throttles and the strategy slows down.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
