//! A service that calls another one: with metrics for Prometheus, and a line in the log for each call that gives up.
//!
//! `cargo run --example service` takes 60 orders, while the stock behind it is down for a second and a half. The orders outlast that. But
//! the stock always fails for order 30, which gives up. With `-- --serve`, it serves until Ctrl-C: `/orders/7` and `/metrics`.

use axum::Router;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::get;
use metrics_exporter_prometheus::PrometheusBuilder;
use reqwest::Client;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{PatientRetryStrategy, Report, Stop, observe, retryable};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// The name is a label of the metrics.
static STOCK: PatientRetryStrategy = PatientRetryStrategy::new().name("stock");
/// Ends the waits of all calls in a shutdown.
static STOP: Stop = Stop::new();

/// Asks how many pieces there are. All calls to the stock share its strategy.
#[retryable(strategy = STOCK, idempotent, max_time = "6s", attempt_timeout = "500ms", stop = STOP, on_end = |it| log(order, it))]
async fn pieces(http: &Client, stock: &str, order: u32) -> Result<String, ClientError> {
    Ok(http.get(format!("{stock}/pieces/{order}")).send().await?.error_for_response().await?.text().await?)
}

/// Logs a call that gave up.
fn log(order: u32, report: &Report<&Result<String, ClientError>>) {
    if let (Err(error), Some(reason)) = (report.outcome, report.reason) {
        let (attempts, seconds) = (report.attempts, report.elapsed.as_secs_f64());
        eprintln!("order {order} gave up: attempts: {attempts}, {seconds:.1} s; {reason}; last error: {error:#}");
    }
}

/// Handles `GET /orders/7`.
async fn order(Path(order): Path<u32>, State((http, stock)): State<(Client, String)>) -> (StatusCode, String) {
    match pieces(&http, &stock, order).await {
        Ok(pieces) => (StatusCode::OK, pieces),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "try again later".to_owned()),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = PrometheusBuilder::new().install_recorder()?;
    observe::metrics::install()?;
    // The client's own retries are off: the strategy would not see them.
    let http = Client::builder().retry(reqwest::retry::never()).no_proxy().build()?;
    let stock = start(stock(Instant::now())).await?;
    let scrape = recorder.clone();
    let orders = Router::new()
        .route("/orders/{order}", get(order))
        .with_state((http.clone(), format!("http://{stock}")))
        .route("/metrics", get(async move || scrape.render()));
    let address = start(orders).await?;
    println!("serving http://{address}/orders/7 and http://{address}/metrics");
    if std::env::args().nth(1).as_deref() == Some("--serve") {
        ctrlc::set_handler(|| STOP.stop())?;
        while !STOP.is_stopped() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        return Ok(());
    }

    // Ten orders per second.
    let mut customers = JoinSet::new();
    for number in 0..60 {
        let order = http.get(format!("http://{address}/orders/{number}")).send();
        customers.spawn(async { order.await.is_ok_and(|answer| answer.status().is_success()) });
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let answered = customers.join_all().await.into_iter().filter(|answered| *answered).count();
    println!("60 orders, of which {answered} were answered");
    for line in recorder.render().lines().filter(|line| line.starts_with("retry_operations_total")) {
        println!("{line}");
    }
    Ok(())
}

/// The stock. It is down for a second and a half, from half a second after the start.
fn stock(start: Instant) -> Router {
    let pieces = async move |Path(order): Path<u32>| match (start.elapsed().as_millis(), order) {
        (500..2000, _) => (StatusCode::SERVICE_UNAVAILABLE, "restarting"),
        (_, 30) => (StatusCode::INTERNAL_SERVER_ERROR, "a defect"),
        _ => (StatusCode::OK, "12 pieces"),
    };
    Router::new().route("/pieces/{order}", get(pieces))
}

/// Serves on a free port.
async fn start(router: Router) -> Result<SocketAddr, std::io::Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(async { axum::serve(listener, router).await });
    Ok(address)
}
