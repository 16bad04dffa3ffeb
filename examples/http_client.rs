//! How the errors of a real HTTP client are classified: reqwest against a server with common failures.
//!
//! `cargo run --example http_client`

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::{AppendHeaders, IntoResponse, Response};
use bytes::Bytes;
use futures_util::{StreamExt, stream};
use reqwest::{Method, StatusCode, redirect};
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{PatientRetryStrategy, RetryErrorType, RetryInfo, retryable};
use std::error::Error;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// The backoff and the wait for a service that is down are short, to keep the example fast. Waits that the server asks for are still
/// honoured.
static API: PatientRetryStrategy = PatientRetryStrategy::new()
    .backoff(Duration::from_millis(20), Duration::from_millis(100))
    .max_wait_for_service(Duration::from_secs(4));

struct Client {
    http: reqwest::Client,
    base: String,
    started: Instant,
}

impl Client {
    /// Reading twice does no harm, so an uncertain failure ("maybe") is retried.
    #[retryable(strategy = API, idempotent)]
    async fn get(&self, path: &str) -> Result<String, ClientError> {
        self.attempt(Method::GET, path).await
    }

    /// An order that is placed twice is paid for twice, so an uncertain failure ("maybe") is not retried.
    #[retryable(strategy = API, idempotent = false)]
    async fn post(&self, path: &str) -> Result<String, ClientError> {
        self.attempt(Method::POST, path).await
    }

    /// Makes one attempt and prints a line about it.
    async fn attempt(&self, method: Method, path: &str) -> Result<String, ClientError> {
        let sent = self.started.elapsed().as_secs_f64();
        let outcome = self.send(method.clone(), path).await;
        print!("{sent:>4.1} s  {:<13}", format!("{method} {path}"));
        match &outcome {
            Ok(answer) => println!("{answer}"),
            Err(error) => {
                let safe = format!("{:?}", error.is_retry_safe());
                let wait = error.retry_after().map_or(String::new(), |wait| format!("  {wait:?}"));
                let what = error.status().map_or_else(|| root(error).to_string(), |status| status.to_string());
                println!("{what:<44}  {safe:<5}  {}{wait}", RetryErrorType::of(error).as_str());
            }
        }
        outcome
    }

    async fn send(&self, method: Method, path: &str) -> Result<String, ClientError> {
        let url = format!("{}{path}", self.base);
        Ok(self.http.request(method, url).send().await?.error_for_response().await?.json().await?)
    }
}

/// Returns the innermost source of an error, which has the most specific message.
fn root<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    error.source().map_or(error, root)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let client = Client::new(listener.local_addr()?)?;
    let server = tokio::spawn(serve(listener));

    println!("sent    attempt      outcome {:36}  safe   class  requested wait", "");
    // The requests follow the order of the server's script.
    done(&client.get("/list").await);
    done(&client.get("/missing").await);
    for _ in 0..5 {
        done(&client.post("/orders").await);
    }
    done(&client.get("/report").await);
    // The server stops only after it has received one request for each entry of its script.
    tokio::time::timeout(Duration::from_secs(5), server).await??;
    done(&client.post("/orders").await);
    Ok(())
}

fn done(outcome: &Result<String, ClientError>) {
    println!("        {}\n", if outcome.is_ok() { "succeeded" } else { "failed" });
}

impl Client {
    fn new(server: SocketAddr) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder()
            .timeout(Duration::from_millis(500))
            // The client's own retries are off: the strategy would not see them.
            .retry(reqwest::retry::never())
            // Redirects are not followed: the docs of `reqwest013` explain why.
            .redirect(redirect::Policy::none())
            // Each request opens a new connection, so that a closed connection is seen by the request it belongs to.
            .pool_max_idle_per_host(0)
            .build()?;
        Ok(Self { http, base: format!("http://{server}"), started: Instant::now() })
    }
}

/// What the server does with a request.
enum Reaction {
    Answer(StatusCode, &'static [(&'static str, &'static str)]),
    /// Answers with text that is not JSON.
    Garble,
    /// Closes the connection without an answer.
    Drop,
    /// Closes the connection in the middle of the answer.
    Cut,
    /// Answers after the client's timeout.
    Stall,
}

/// The server's reaction to each request in turn. After the last one, the server stops.
static SCRIPT: [Reaction; 14] = [
    // GET /list
    Reaction::Cut,
    Reaction::Answer(StatusCode::OK, &[]),
    // GET /missing
    Reaction::Answer(StatusCode::NOT_FOUND, &[]),
    // POST /orders. The server's clock is years behind, but the wait is one second: it counts from the server's date.
    Reaction::Answer(
        StatusCode::SERVICE_UNAVAILABLE,
        &[("date", "Sun, 06 Nov 1994 08:49:36 GMT"), ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT")],
    ),
    Reaction::Answer(StatusCode::CREATED, &[]),
    // Four more orders. The first two may or may not have been placed, the third is refused, and the fourth is placed
    // but its answer can't be parsed.
    Reaction::Answer(StatusCode::SERVICE_UNAVAILABLE, &[]),
    Reaction::Drop,
    Reaction::Answer(StatusCode::CONFLICT, &[]),
    Reaction::Garble,
    // GET /report
    Reaction::Answer(StatusCode::TOO_MANY_REQUESTS, &[("retry-after", "1")]),
    Reaction::Answer(StatusCode::SERVICE_UNAVAILABLE, &[]),
    Reaction::Drop,
    Reaction::Stall,
    Reaction::Answer(StatusCode::OK, &[]),
];

/// The server's position in its script.
#[derive(Default)]
struct Progress {
    requests: AtomicUsize,
    finished: Notify,
}

async fn serve(listener: TcpListener) {
    let progress = Arc::new(Progress::default());
    let router = Router::new().fallback(react).with_state(Arc::clone(&progress));
    let end = async move { progress.finished.notified().await };
    // `serve` never returns an error: it waits after an error of `accept` and tries again.
    let _ = axum::serve(listener, router).with_graceful_shutdown(end).await;
}

async fn react(State(progress): State<Arc<Progress>>) -> Response {
    let request = progress.requests.fetch_add(1, Ordering::Relaxed);
    if request + 1 == SCRIPT.len() {
        progress.finished.notify_one();
    }
    match SCRIPT.get(request) {
        Some(Reaction::Answer(status, headers)) => {
            (*status, AppendHeaders(headers.iter().copied()), format!("\"{status}\"")).into_response()
        }
        Some(Reaction::Garble) => (StatusCode::CREATED, "<html>").into_response(),
        Some(Reaction::Drop) => {
            let broken = stream::once(async { Err::<Bytes, _>(std::io::Error::from(ErrorKind::BrokenPipe)) });
            Body::from_stream(broken).into_response()
        }
        Some(Reaction::Cut) => {
            let half = stream::once(async { Ok(Bytes::from_static(b"\"200")) });
            // A short wait, so that the first half is sent before the connection breaks.
            let broken = stream::once(async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::from(ErrorKind::BrokenPipe))
            });
            Body::from_stream(half.chain(broken)).into_response()
        }
        Some(Reaction::Stall) => {
            tokio::time::sleep(Duration::from_secs(5)).await;
            StatusCode::OK.into_response()
        }
        None => StatusCode::GONE.into_response(),
    }
}
