//! A credential that expires under a hundred concurrent calls: it is refreshed once, and each call is sent once more.
//!
//! `cargo run --example refresh_credential`

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::routing::{get, post};
use reqwest::StatusCode as Status;
use retry_clients::reqwest013::{ClientError, ResponseExt};
use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
use std::error::Error;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

/// Why an attempt failed, and whether a retry is safe.
#[derive(Debug, thiserror::Error, RetryInfo)]
enum ApiError {
    /// The server refused the credential, which is new now. Nothing was carried out, so a retry is safe. Like one after a
    /// conflict, it follows soon and is free, so a hundred of them do not use up the quota.
    #[error("the credential had expired")]
    #[retry(safe, conflict)]
    Refreshed,

    /// Any other error, including a new credential that is refused as well.
    #[error(transparent)]
    #[retry(transparent)]
    Failed(#[from] ClientError),
}

static API: PatientRetryStrategy = PatientRetryStrategy::new();

struct Client {
    http: reqwest::Client,
    base: String,
    /// The credential of all calls. A call holds the lock while it refreshes, so the others wait for the new one.
    credential: Mutex<String>,
}

impl Client {
    async fn get(&self, path: &str) -> Result<String, ApiError> {
        self.get_with_credential(path, &mut false).await
    }

    /// `refreshed` is shared by all attempts of one call: a credential is worth a single retry.
    #[retryable(strategy = API, idempotent)]
    async fn get_with_credential(&self, path: &str, refreshed: &mut bool) -> Result<String, ApiError> {
        let credential = self.credential.lock().await.clone();
        match self.send(path, &credential).await {
            Err(error) if error.status() == Some(Status::UNAUTHORIZED) && !*refreshed => {
                self.refresh(&credential).await?;
                *refreshed = true;
                Err(ApiError::Refreshed)
            }
            outcome => Ok(outcome?),
        }
    }

    /// Replaces a credential that was refused, unless another call has done so.
    async fn refresh(&self, refused: &str) -> Result<(), ClientError> {
        let mut credential = self.credential.lock().await;
        if *credential == refused {
            let request = self.http.post(format!("{}/credential", self.base));
            *credential = request.send().await?.error_for_response().await?.text().await?;
        }
        Ok(())
    }

    async fn send(&self, path: &str, credential: &str) -> Result<String, ClientError> {
        let request = self.http.get(format!("{}{path}", self.base)).bearer_auth(credential);
        Ok(request.send().await?.error_for_response().await?.text().await?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let base = format!("http://{}", listener.local_addr()?);
    let http = reqwest::Client::builder().retry(reqwest::retry::never()).build()?;
    let client = Arc::new(Client { http, base, credential: Mutex::new("expired".to_owned()) });
    let server = Arc::new(Server::default());
    let router = Router::new()
        .route("/orders", get(Server::orders))
        .route("/credential", post(Server::credential))
        .with_state(Arc::clone(&server));
    tokio::spawn(async { axum::serve(listener, router).await });

    let calls: Vec<_> = (0..100)
        .map(|_| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { client.get("/orders").await })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await??, "2 orders");
    }
    let (requests, refreshes) = server.counts();
    println!("100 calls: {requests} requests, {refreshes} new credential");
    assert_eq!(refreshes, 1);
    assert!(requests <= 200, "each call is sent once more at most");

    // A server that refuses the new credential, too, is asked once more, and no further.
    server.refuses_all.store(true, Ordering::Relaxed);
    let error = client.get("/orders").await.unwrap_err();
    println!("{error:#}: {} requests", server.counts().0 - requests);
    assert_eq!(server.counts(), (requests + 2, 2));
    Ok(())
}

/// A server that takes the newest credential only.
#[derive(Default)]
struct Server {
    requests: AtomicUsize,
    credentials: AtomicUsize,
    refuses_all: AtomicBool,
}

#[expect(clippy::unused_async, reason = "handlers are asynchronous")]
impl Server {
    async fn orders(State(server): State<Arc<Self>>, headers: HeaderMap) -> (StatusCode, &'static str) {
        server.requests.fetch_add(1, Ordering::Relaxed);
        let newest = format!("Bearer credential {}", server.credentials.load(Ordering::Relaxed));
        let is_newest = headers.get(header::AUTHORIZATION).is_some_and(|given| given.as_bytes() == newest.as_bytes());
        if is_newest && !server.refuses_all.load(Ordering::Relaxed) {
            (StatusCode::OK, "2 orders")
        } else {
            (StatusCode::UNAUTHORIZED, "expired")
        }
    }

    async fn credential(State(server): State<Arc<Self>>) -> String {
        format!("credential {}", server.credentials.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn counts(&self) -> (usize, usize) {
        (self.requests.load(Ordering::Relaxed), self.credentials.load(Ordering::Relaxed))
    }
}
