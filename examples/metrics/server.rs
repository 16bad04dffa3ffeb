//! The service on its own port. It fails now and then, and exposes the metrics of the program.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusHandle;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// A running server.
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Requests>,
}

/// The numbers of requests.
#[derive(Default)]
struct Requests {
    store: AtomicU32,
    table: AtomicU32,
    index: AtomicU32,
    stock: AtomicU32,
}

impl Server {
    /// Starts a server that exposes these metrics.
    pub(crate) async fn start(metrics: PrometheusHandle) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let (address, requests) = (listener.local_addr()?, Arc::new(Requests::default()));
        let router = Router::new()
            .route("/store/{key}", get(store))
            .route("/table", get(table))
            .route("/index", get(index))
            .route("/stock", get(stock))
            .with_state(Arc::clone(&requests))
            .route("/metrics", get(async move || scrape(&metrics)));
        tokio::spawn(async { axum::serve(listener, router).await });
        Ok(Self { address, requests })
    }

    /// Returns the address of the server.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address for Prometheus.
    pub(crate) fn metrics_url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Returns how many requests the store and the table have got.
    pub(crate) fn requests(&self) -> (u32, u32) {
        let Requests { store, table, .. } = &*self.requests;
        (store.load(Ordering::Relaxed), table.load(Ordering::Relaxed))
    }
}

fn scrape(metrics: &PrometheusHandle) -> String {
    // Moves what was recorded into the buckets, and keeps the recorder small.
    metrics.run_upkeep();
    metrics.render()
}

/// Each third request fails.
async fn store(State(requests): State<Arc<Requests>>, Path(key): Path<String>) -> StatusCode {
    match requests.store.fetch_add(1, Ordering::Relaxed) % 3 {
        _ if key == "missing" => StatusCode::NOT_FOUND,
        2 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

/// Some requests are throttled, after more than a second without any throttling.
async fn table(State(requests): State<Arc<Requests>>) -> StatusCode {
    match requests.table.fetch_add(1, Ordering::Relaxed) % 200 {
        120..124 => StatusCode::TOO_MANY_REQUESTS,
        _ => StatusCode::OK,
    }
}

/// The first request times out at the service behind this one.
async fn stock(State(requests): State<Arc<Requests>>) -> StatusCode {
    if requests.stock.fetch_add(1, Ordering::Relaxed) == 0 { StatusCode::GATEWAY_TIMEOUT } else { StatusCode::OK }
}

/// Each second answer takes long, the first one included.
async fn index(State(requests): State<Arc<Requests>>) {
    if requests.index.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) {
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
}
