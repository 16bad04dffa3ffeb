//! Signed requests from a machine with a wrong clock: the client corrects its clock by the server's, and retries once.
//!
//! `cargo run --example signed_requests`

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::get;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::classify::aws;
use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
use sha2::{Digest, Sha256};
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpListener;

/// Why an attempt failed, and whether a retry is safe.
#[derive(Debug, thiserror::Error, RetryInfo)]
enum ApiError {
    /// The server refused the time of the signature. The clock is right now, so the next attempt can succeed.
    #[error("the clock was wrong by {0} s")]
    #[retry(safe)]
    ClockCorrected(i64),

    /// Any other error, including a time that is refused again.
    #[error(transparent)]
    #[retry(transparent)]
    Failed(#[from] ClientError),
}

/// The backoff is short, to keep the example fast.
static API: PatientRetryStrategy =
    PatientRetryStrategy::new().backoff(Duration::from_millis(20), Duration::from_millis(100));

struct Client {
    http: reqwest::Client,
    base: String,
    /// The server's clock minus this machine's clock, in seconds. All calls share it.
    clock_offset: AtomicI64,
}

impl Client {
    async fn get(&self, path: &str) -> Result<String, ApiError> {
        self.get_signed(path, &mut false).await
    }

    /// `corrected` is shared by all attempts of one call: the clock is worth a single retry.
    #[retryable(strategy = API, idempotent)]
    async fn get_signed(&self, path: &str, corrected: &mut bool) -> Result<String, ApiError> {
        match self.send(path).await {
            Err(error) if !*corrected => {
                let Some(offset) = clock_offset(&error) else { return Err(error.into()) };
                *corrected = true;
                self.clock_offset.store(offset, Ordering::Relaxed);
                Err(ApiError::ClockCorrected(offset))
            }
            outcome => Ok(outcome?),
        }
    }

    /// Sends one request, signed with the corrected time.
    async fn send(&self, path: &str) -> Result<String, ClientError> {
        let time = seconds(SystemTime::now()) + self.clock_offset.load(Ordering::Relaxed);
        let request = self.http.get(format!("{}{path}", self.base));
        let request = request.header("x-time", time).header("x-signature", signature(path, time));
        Ok(request.send().await?.error_for_response().await?.text().await?)
    }
}

/// Returns the server's clock minus this machine's clock, if the error means that the clock is wrong.
fn clock_offset(error: &ClientError) -> Option<i64> {
    let response = error.response()?;
    let is_skew = aws::is_clock_skew(&response.text());
    is_skew.then(|| Some(seconds(response.server_time()?) - seconds(SystemTime::now())))?
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(i64::MAX))
}

/// Stands for a real scheme of signatures.
fn signature(path: &str, time: i64) -> String {
    format!("{:?}", Sha256::digest(format!("secret key {path} {time}")))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let http = reqwest::Client::builder().retry(reqwest::retry::never()).build()?;
    let base = format!("http://{}", listener.local_addr()?);
    let client = Client { http, base, clock_offset: AtomicI64::new(0) };
    let server = Arc::new(Server::default());
    let router = Router::new()
        .route("/orders", get(async |server, headers| Server::answer(server, &headers)))
        .with_state(Arc::clone(&server));
    tokio::spawn(async { axum::serve(listener, router).await });

    println!("{}, after {} requests", client.get("/orders").await?, server.requests());
    println!("{}, after {} requests", client.get("/orders").await?, server.requests());
    assert_eq!(server.requests(), 3, "only the first call needs a correction");

    // A server that refuses every time is asked once more, and no further.
    server.accepts_no_time.store(true, Ordering::Relaxed);
    let error = client.get("/orders").await.unwrap_err();
    println!("{error:#}, after {} requests", server.requests());
    assert_eq!(server.requests(), 5);
    Ok(())
}

/// A server that checks signatures. Its clock is two hours ahead of this machine's.
#[derive(Default)]
struct Server {
    requests: AtomicUsize,
    accepts_no_time: AtomicBool,
}

impl Server {
    fn answer(State(server): State<Arc<Self>>, headers: &HeaderMap) -> impl IntoResponse + use<> {
        server.requests.fetch_add(1, Ordering::Relaxed);
        let now = seconds(SystemTime::now()) + 2 * 3600;
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(now.unsigned_abs()));
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        let time = text("x-time").and_then(|time| time.parse().ok()).unwrap_or(0);
        let (status, body) = if text("x-signature") != Some(&signature("/orders", time)) {
            (StatusCode::FORBIDDEN, "AccessDenied")
        } else if now.abs_diff(time) > 300 || server.accepts_no_time.load(Ordering::Relaxed) {
            (StatusCode::FORBIDDEN, "RequestTimeTooSkewed")
        } else {
            (StatusCode::OK, "2 orders")
        };
        (status, [(header::DATE, date)], body)
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}
