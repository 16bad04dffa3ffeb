//! The service: an in-memory object store behind HTTP, with the failures of a real one.

use crate::count::Counter;
use crate::faults::{Fault, FaultRates, Faults, chance};
use crate::http::RETRY;
use crate::limit::{Access, Limiter, Limits};
use crate::outage::{Outage, OutagePlan};
use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use futures_util::stream;
use rand::RngExt;
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The bucket to copy from.
pub(crate) const SOURCE: &str = "source";
/// The bucket to copy to.
pub(crate) const DESTINATION: &str = "destination";

/// Objects by key.
pub(crate) type Objects = HashMap<String, Bytes>;

/// The behaviour of the service.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// The time before each answer.
    pub(crate) latency: Duration,
    /// The limits on requests.
    pub(crate) limits: Limits,
    /// The fault rates of admitted requests.
    pub(crate) faults: FaultRates,
    /// An outage, in which all requests fail.
    pub(crate) outage: Option<OutagePlan>,
    /// The seed of all random decisions.
    pub(crate) seed: u64,
}

/// A running service. It ends with the runtime, or with [`stop`](Self::stop).
#[derive(Debug)]
pub(crate) struct Service {
    address: SocketAddr,
    store: Arc<Store>,
    server: JoinHandle<()>,
}

impl Service {
    /// Starts a service on a free local port, with these objects in its source bucket.
    pub(crate) async fn start(rules: Rules, objects: Objects) -> io::Result<Self> {
        let store = Arc::new(Store {
            seed: rules.seed,
            latency: rules.latency,
            limiter: Limiter::new(rules.limits),
            faults: Faults::new(rules.faults, rules.seed),
            outage: rules.outage.map(Outage::new),
            buckets: Mutex::new(HashMap::from([
                (SOURCE.to_owned(), objects),
                (DESTINATION.to_owned(), HashMap::new()),
            ])),
            counters: Counters::default(),
            first_request: OnceLock::new(),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let router = Router::new()
            .route("/{bucket}/{*key}", get(serve).put(serve))
            .layer(DefaultBodyLimit::disable())
            .with_state(Arc::clone(&store));
        let server = tokio::spawn(async move {
            // `serve` never returns an error: it waits after an error of `accept` and tries again.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, store, server })
    }

    /// Returns the address of the service.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the counts of requests and failures so far.
    pub(crate) fn counters(&self) -> &Counters {
        &self.store.counters
    }

    /// Returns the outage, if one is planned.
    pub(crate) fn outage(&self) -> Option<&Outage> {
        self.store.outage.as_ref()
    }

    /// Stops the service and returns the objects of the destination bucket.
    pub(crate) fn stop(&self) -> Objects {
        self.server.abort();
        self.store.buckets().remove(DESTINATION).unwrap_or_default()
    }
}

/// State shared by the requests.
#[derive(Debug)]
struct Store {
    seed: u64,
    latency: Duration,
    limiter: Limiter,
    faults: Faults,
    outage: Option<Outage>,
    buckets: Mutex<HashMap<String, Objects>>,
    counters: Counters,
    first_request: OnceLock<Instant>,
}

/// Answers one request: checks for an outage, then the limit, then injects faults, then accesses the object.
async fn serve(
    State(store): State<Arc<Store>>,
    method: Method,
    Path((bucket, key)): Path<(String, String)>,
    headers: HeaderMap,
    content: Bytes,
) -> Response {
    let access = if method == Method::PUT { Access::Write } else { Access::Read };
    let path = format!("{bucket}/{key}");
    store.count_received();
    if !store.latency.is_zero() {
        tokio::time::sleep(store.latency).await;
    }
    if store.is_failing(&headers) {
        return failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
    }
    if let Err(wait) = store.limiter.admit(access, &path) {
        return store.throttle(wait);
    }
    match store.faults.strike(&format!("{method} {path}")) {
        None => {}
        Some(Fault::Error) => {
            store.counters.errors.add();
            return failure(StatusCode::INTERNAL_SERVER_ERROR, "InternalError");
        }
        Some(Fault::Drop) => {
            store.counters.drops.add();
            return broken();
        }
        Some(Fault::Stall(time)) => {
            store.counters.stalls.add();
            // If the client hangs up meanwhile, this future is dropped here and the object stays unchanged.
            tokio::time::sleep(time).await;
        }
    }
    match access {
        Access::Read => store.read(&bucket, &key),
        Access::Write => store.write(&bucket, key, content),
    }
}

impl Store {
    fn count_received(&self) {
        self.counters.received.add();
        if self.is_late() {
            self.counters.received_late.add();
        }
    }

    /// Returns true once a second has passed since the first request.
    fn is_late(&self) -> bool {
        self.first_request.get_or_init(Instant::now).elapsed() > Duration::from_secs(1)
    }

    /// Returns true if the request fails because of an outage, and counts it.
    fn is_failing(&self, headers: &HeaderMap) -> bool {
        let Some(outage) = &self.outage else { return false };
        let is_failing = outage.strike(self.counters.writes.get(), headers.get(RETRY).map(HeaderValue::as_bytes));
        if is_failing {
            self.counters.errors.add();
        }
        is_failing
    }

    fn buckets(&self) -> MutexGuard<'_, HashMap<String, Objects>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self, bucket: &str, key: &str) -> Response {
        match self.buckets().get(bucket).and_then(|objects| objects.get(key)) {
            Some(content) => {
                self.counters.reads.add();
                content.clone().into_response()
            }
            None => failure(StatusCode::NOT_FOUND, "NoSuchKey"),
        }
    }

    fn write(&self, bucket: &str, key: String, content: Bytes) -> Response {
        match self.buckets().get_mut(bucket) {
            Some(objects) => {
                objects.insert(key, content);
                self.counters.writes.add();
                StatusCode::OK.into_response()
            }
            None => failure(StatusCode::NOT_FOUND, "NoSuchBucket"),
        }
    }

    /// Throttles a request: with the error code of S3 three times out of four, and with 429 otherwise. Half of the
    /// answers include a wait.
    fn throttle(&self, wait: Duration) -> Response {
        if self.is_late() {
            self.counters.throttled_late.add();
        }
        let mut chance = chance(self.seed, "throttled", self.counters.throttled.add());
        let mut response = if chance.random_bool(0.75) {
            failure(StatusCode::SERVICE_UNAVAILABLE, "SlowDown")
        } else {
            failure(StatusCode::TOO_MANY_REQUESTS, "TooManyRequests")
        };
        if chance.random_bool(0.5) {
            // The header has whole seconds only. They are rounded up, so that a token is available after the wait.
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// Returns an error response in the form of S3.
fn failure(status: StatusCode, code: &str) -> Response {
    let body = format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>{code}</Code></Error>");
    (status, [(header::CONTENT_TYPE, "application/xml")], body).into_response()
}

/// Returns a response that fails while it is written, so that the connection closes without any answer.
fn broken() -> Response {
    Body::from_stream(stream::once(async { Err::<Bytes, _>(io::Error::from(io::ErrorKind::BrokenPipe)) }))
        .into_response()
}

/// Counts of requests and failures.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    /// All requests.
    pub(crate) received: Counter,
    /// Requests after the first second, when a client can have learned the limit.
    pub(crate) received_late: Counter,
    /// Requests throttled by the limit.
    pub(crate) throttled: Counter,
    /// Requests throttled after the first second.
    pub(crate) throttled_late: Counter,
    /// Requests answered with 500.
    pub(crate) errors: Counter,
    /// Requests whose answer was delayed.
    pub(crate) stalls: Counter,
    /// Requests whose connection was dropped.
    pub(crate) drops: Counter,
    /// Completed reads.
    pub(crate) reads: Counter,
    /// Completed writes.
    pub(crate) writes: Counter,
}
