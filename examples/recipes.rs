//! The recipes of the README: a closure, a blocking call and a request of an HTTP client.
//!
//! `cargo run --example recipes`. A fourth one, a transaction of `PostgreSQL`, is the example `transaction` of retry-clients.

use axum::Router;
use axum::http::StatusCode;
use reqwest::Client;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{PatientRetryStrategy, retry, retry_blocking, retryable};
use std::error::Error;
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

static SERVER: PatientRetryStrategy = PatientRetryStrategy::new();
static API: PatientRetryStrategy = PatientRetryStrategy::new();

async fn connect(server: SocketAddr) -> io::Result<tokio::net::TcpStream> {
    retry(&SERVER, || tokio::net::TcpStream::connect(server))
        .when(|error| error.kind() == ErrorKind::ConnectionRefused)
        .on_retry(|error, event| println!("{error}: {}", event.kind.as_str()))
        .run()
        .await
}

fn first_line(server: SocketAddr) -> io::Result<String> {
    retry_blocking(&SERVER, || {
        let mut line = String::new();
        BufReader::new(TcpStream::connect(server)?).read_line(&mut line)?;
        Ok(line)
    })
    .when(|error: &io::Error| error.kind() == ErrorKind::ConnectionRefused)
    .run()
}

#[retryable(strategy = API, idempotent, max_time = "10s", attempt_timeout = "2s")]
async fn order(http: &Client, url: &str) -> Result<String, ClientError> {
    Ok(http.get(url).send().await?.error_for_response().await?.text().await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("connected to {}", connect(late_server()?).await?.peer_addr()?);
    print!("{}", first_line(late_server()?)?);
    println!("ordered: {}", order(&Client::new(), &shop().await?).await?);
    Ok(())
}

/// Starts a server that begins to listen after 30 ms and stops after one answer. Until then its port refuses connections.
fn late_server() -> io::Result<SocketAddr> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    thread::spawn(move || -> io::Result<()> {
        thread::sleep(Duration::from_millis(30));
        let (mut stream, _) = TcpListener::bind(address)?.accept()?;
        writeln!(stream, "hello from the server")
    });
    Ok(address)
}

/// Starts a server that is overloaded once, and returns the URL of an order.
async fn shop() -> io::Result<String> {
    static REQUESTS: AtomicUsize = AtomicUsize::new(0);
    let answer = async || match REQUESTS.fetch_add(1, Ordering::Relaxed) {
        0 => Err((StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "1")], "busy")),
        _ => Ok("a book"),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/orders/7", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
    Ok(url)
}
