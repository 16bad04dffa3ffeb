//! Requests whose body is a stream: each attempt gets a new one.
//!
//! `cargo run --example streaming_body`

use axum::Router;
use axum::body::Body as Received;
use axum::http::StatusCode;
use axum::routing::put;
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use reqwest::{Body, Client};
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{PatientRetryStrategy, retryable};
use std::convert::Infallible;
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpListener;

/// The backoff is short, to keep the example fast.
static STORE: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_millis(100));

/// Uploads an object. A stream is used up by the attempt that sends it, so the argument makes bodies, and is called once
/// for each attempt. Where the body is a file, each attempt opens it again.
#[retryable(strategy = STORE, idempotent)]
async fn upload(http: &Client, url: &str, body: impl Fn() -> Body) -> Result<(), ClientError> {
    http.put(url).body(body()).send().await?.error_for_response().await?;
    Ok(())
}

const CHUNKS: usize = 1000;
const CHUNK: [u8; 1024] = [7; 1024];

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let url = format!("http://{}/object", listener.local_addr()?);
    let requests = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&requests);
    let router =
        Router::new().route("/object", put(move |body| receive(body, counter.fetch_add(1, Ordering::Relaxed))));
    tokio::spawn(async { axum::serve(listener, router).await });

    let bodies = AtomicUsize::new(0);
    let http = Client::builder().retry(reqwest::retry::never()).build()?;
    upload(&http, &url, || {
        bodies.fetch_add(1, Ordering::Relaxed);
        Body::wrap_stream(stream::iter((0..CHUNKS).map(|_| Ok::<_, Infallible>(Bytes::from_static(&CHUNK)))))
    })
    .await?;

    println!(
        "uploaded in {} attempts, with {} bodies",
        requests.load(Ordering::Relaxed),
        bodies.load(Ordering::Relaxed)
    );
    assert_eq!((requests.load(Ordering::Relaxed), bodies.into_inner()), (3, 3));
    Ok(())
}

/// Fails in the middle of the first body and after the second one.
async fn receive(body: Received, request: usize) -> (StatusCode, String) {
    let mut chunks = body.into_data_stream();
    let mut received = 0;
    while let Some(Ok(chunk)) = chunks.next().await {
        received += chunk.len();
        if request == 0 && received > CHUNK.len() * CHUNKS / 2 {
            println!("request 1: fails after {received} bytes");
            return (StatusCode::SERVICE_UNAVAILABLE, "in the middle".to_owned());
        }
    }
    println!("request {}: received {received} bytes", request + 1);
    let complete = received == CHUNK.len() * CHUNKS;
    let status = if request > 1 && complete { StatusCode::CREATED } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, String::new())
}
