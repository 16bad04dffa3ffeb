//! A stack of tower layers around an HTTP client: retries, a limit on concurrent requests, and the client.
//!
//! `cargo run --example tower_stack`

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Router, response::AppendHeaders};
use reqwest::{Client, Method, Request, Response};
use retry_clients::reqwest013;
use retry_core::classify::{Classification, chain, http};
use retry_core::tower::RetryLayer;
use retry_core::{RetryDirective, RetrySafety, StandardRetryPolicy, StandardRetryStrategy, policy_fn};
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};
use tokio::net::TcpListener;
use tower::{Service, ServiceBuilder, ServiceExt};

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// One strategy for the server. The backoff is short, to keep the example fast.
static API: StandardRetryStrategy =
    StandardRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_secs(1));

/// Judges a response by its status and headers, and an error by its kind.
fn judge(outcome: &Result<Response, BoxError>) -> RetryDirective {
    let verdict = match outcome {
        Ok(response) if response.status().as_u16() < 400 => return RetryDirective::succeed(),
        Ok(response) => http::response(response.status(), response.headers(), SystemTime::now()),
        Err(error) => {
            let verdict = error.downcast_ref().map(reqwest013::classify);
            // A timeout of the retry layer is no error of the client.
            verdict.or_else(|| chain::known(error)).unwrap_or(Classification::new(RetrySafety::No))
        }
    };
    // All requests of this program are GETs.
    StandardRetryPolicy::new().idempotent(true).evaluate_error(&verdict)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let (address, attempts) = serve().await?;
    let retries = RetryLayer::new(&API)
        .policy(policy_fn(judge))
        .clone_with(Request::try_clone)
        .attempt_timeout(Duration::from_millis(300))
        .max_time(Duration::from_secs(10));
    let mut stack = ServiceBuilder::new()
        .layer(retries)
        .concurrency_limit(8) // not held while a retry waits
        .map_err(BoxError::from)
        .service(Client::new());

    for order in 1..=3 {
        let request = Request::new(Method::GET, format!("{address}/orders/{order}").parse()?);
        let response = stack.ready().await?.call(request).await?;
        println!("order {order}: {}, attempts: {}", response.status(), attempts.swap(0, Ordering::Relaxed));
    }
    Ok(())
}

/// Starts a server with a script: it throttles, fails and stalls before the first order is found, fails once before the
/// second one, and does not know the third. It returns its address and the number of requests.
async fn serve() -> Result<(String, Arc<AtomicUsize>), BoxError> {
    static SCRIPT: [u16; 7] = [429, 500, 0, 200, 503, 200, 404];
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
