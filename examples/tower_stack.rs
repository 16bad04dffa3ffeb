//! A stack of tower layers around an HTTP client: retries, a limit on concurrent requests, a timeout of each attempt, and the client. The
//! method of a request decides whether it may be executed twice.
//!
//! `cargo run --example tower_stack`

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Router, response::AppendHeaders};
use reqwest::{Client, Method, Request};
use retry_clients::reqwest013;
use retry_core::PatientRetryStrategy;
use retry_tower::{RetryLayer, tower05};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;
use tower::{Service, ServiceBuilder, ServiceExt};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One strategy for the server. The backoff is short, to keep the example fast.
static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_secs(1));

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let (address, attempts) = serve().await?;
    let retries = RetryLayer::new(&API)
        .policy_with(|request: &Request| reqwest013::response_policy().also(tower05::link).for_method(request.method()))
        .clone_with(Request::try_clone)
        .max_time(Duration::from_secs(10));
    let mut stack = ServiceBuilder::new()
        .layer(retries)
        .concurrency_limit(8) // not held while a retry waits
        .timeout(Duration::from_millis(300)) // of each attempt
        .service(Client::new());

    for (method, path) in [(Method::GET, "orders/1"), (Method::PUT, "orders/2"), (Method::POST, "orders")] {
        let request = Request::new(method.clone(), format!("{address}/{path}").parse()?);
        let response = stack.ready().await?.call(request).await?;
        println!("{method} {path}: {}, attempts: {}", response.status(), attempts.swap(0, Ordering::Relaxed));
    }
    Ok(())
}

/// Starts a server with a script: it throttles, fails and stalls before the GET succeeds, and fails once before the PUT
/// succeeds. It throttles the POST, which is sent again, and then fails, so that it is unknown whether the order was placed.
/// It returns its address and the number of requests.
async fn serve() -> Result<(String, Arc<AtomicUsize>), BoxError> {
    static SCRIPT: [u16; 8] = [429, 500, 0, 200, 503, 200, 429, 500];
    static POSITION: AtomicUsize = AtomicUsize::new(0);

    let requests = Arc::new(AtomicUsize::new(0));
    let react = |State(requests): State<Arc<AtomicUsize>>| async move {
        requests.fetch_add(1, Ordering::Relaxed);
        let status = SCRIPT.get(POSITION.fetch_add(1, Ordering::Relaxed)).copied().unwrap_or(410);
        let wait = if status == 429 { Some(("retry-after", "1")) } else { None };
        match StatusCode::from_u16(status) {
            Ok(status) => (status, AppendHeaders(wait)),
            Err(_) => std::future::pending().await, // a stall
        }
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let address = format!("http://{}", listener.local_addr()?);
    let router = Router::new().fallback(react).with_state(Arc::clone(&requests));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((address, requests))
}
