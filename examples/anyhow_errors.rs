//! A code base with `anyhow`: one line makes a function retryable, and `?` and `context` stay as they are.
//!
//! `cargo run --example anyhow_errors`

use anyhow::Context;
use axum::{Router, http::StatusCode};
use reqwest::Client;
use retry_clients::reqwest013::{self, ResponseExt};
use retry_core::{PatientRetryStrategy, retryable};
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::net::TcpListener;

static SHOP: PatientRetryStrategy = PatientRetryStrategy::new();

#[retryable(strategy = SHOP, policy = reqwest013::policy().idempotent(true), attempt_timeout = "2s")]
async fn price(http: &Client, url: &str) -> anyhow::Result<u32> {
    let response = http.get(url).send().await.context("the shop cannot be reached")?;
    let text = response.error_for_response().await.context("the shop has no price")?.text().await?;
    text.parse().with_context(|| format!("{text:?} is not a price"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let (http, url) = (Client::new(), shop().await?);
    println!("the price is {}", price(&http, &url).await?);
    // The answer is complete, so this is not retried.
    println!("error: {:#}", price(&http, &url).await.unwrap_err());
    println!("{} requests", REQUESTS.load(Ordering::Relaxed));
    Ok(())
}

static REQUESTS: AtomicUsize = AtomicUsize::new(0);

/// Starts a server that is overloaded once, and returns its URL.
async fn shop() -> anyhow::Result<String> {
    let answer = async || match REQUESTS.fetch_add(1, Ordering::Relaxed) {
        0 => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
        1 => (StatusCode::OK, "42"),
        _ => (StatusCode::OK, "sold out"),
    };
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    Ok(url)
}
