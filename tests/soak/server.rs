//! The HTTP server: it fails, stalls, throttles and cuts connections, and counts the writes that it carries out.

use crate::problem::lock;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{StatusCode, Uri};
use axum::response::{AppendHeaders, IntoResponse, Response};
use futures_util::stream;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The requests to `/limited` that are served at a time.
const PLACES: u32 = 6;

/// What the server does with a request.
#[derive(Clone, Copy, PartialEq)]
enum Reaction {
    Answer,
    Throttle,
    Fail,
    Cut,
    Stall,
}

/// The moods of the server: percentages of throttled, failed, cut and stalled requests.
const MOODS: [[u32; 4]; 6] =
    [[0, 1, 0, 0], [0, 40, 0, 0], [50, 5, 0, 0], [2, 2, 30, 0], [0, 5, 0, 20], [10, 10, 10, 10]];

pub(crate) struct Service {
    mood: AtomicU8,
    busy: AtomicU32,
    random: Mutex<StdRng>,
    /// The writes that were carried out, by the number of their operation.
    writes: Mutex<HashMap<u64, u32>>,
}

impl Service {
    /// Puts the server into one of its moods.
    pub(crate) fn turn(&self, random: &mut StdRng) {
        self.mood.store(random.random_range(0..MOODS.len()).try_into().unwrap_or(0), Ordering::Relaxed);
    }

    /// Returns how often the write of an operation was carried out.
    pub(crate) fn writes_of(&self, operation: u64) -> u32 {
        lock(&self.writes).get(&operation).copied().unwrap_or_default()
    }

    fn react(&self) -> (Reaction, bool) {
        let mut random = lock(&self.random);
        let mut roll = random.random_range(0..100_u32);
        let parts = MOODS[usize::from(self.mood.load(Ordering::Relaxed))];
        for (part, reaction) in
            parts.into_iter().zip([Reaction::Throttle, Reaction::Fail, Reaction::Cut, Reaction::Stall])
        {
            match roll.checked_sub(part) {
                Some(rest) => roll = rest,
                None => return (reaction, random.random()),
            }
        }
        (Reaction::Answer, true)
    }
}

/// The running server.
pub(crate) struct Server {
    pub(crate) service: Arc<Service>,
    pub(crate) address: SocketAddr,
    end: oneshot::Sender<()>,
    task: JoinHandle<std::io::Result<()>>,
}

impl Server {
    pub(crate) async fn start(seed: u64) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let service = Arc::new(Service {
            mood: AtomicU8::new(0),
            busy: AtomicU32::new(0),
            random: Mutex::new(StdRng::seed_from_u64(seed)),
            writes: Mutex::default(),
        });
        let (end, ended) = oneshot::channel::<()>();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&service));
        let shutdown = async move {
            let _ = ended.await;
        };
        let task = tokio::spawn(async move { axum::serve(listener, router).with_graceful_shutdown(shutdown).await });
        Ok(Self { service, address, end, task })
    }

    /// Ends the server once its connections are closed. Returns whether it ended in time.
    pub(crate) async fn end(self) -> bool {
        let _ = self.end.send(());
        timeout(Duration::from_secs(10), self.task).await.is_ok()
    }
}

async fn answer(State(service): State<Arc<Service>>, uri: Uri) -> Response {
    let (reaction, carries_out) = service.react();
    let is_limited = uri.path() == "/limited";
    let busy = Busy(&service.busy, u32::from(is_limited));
    if busy.0.fetch_add(busy.1, Ordering::Relaxed) >= PLACES && is_limited {
        return StatusCode::TOO_MANY_REQUESTS.into_response();
    }
    if is_limited {
        sleep(Duration::from_millis(5)).await;
    }
    // Whoever is throttled may try again, so nothing was carried out. Any other failure leaves it open.
    if let Some(Ok(operation)) = uri.path().strip_prefix("/write/").map(str::parse)
        && carries_out
        && reaction != Reaction::Throttle
    {
        *lock(&service.writes).entry(operation).or_default() += 1;
    }
    match reaction {
        Reaction::Answer => StatusCode::OK.into_response(),
        Reaction::Throttle => (StatusCode::TOO_MANY_REQUESTS, AppendHeaders([("retry-after", "0")])).into_response(),
        Reaction::Fail => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Reaction::Cut => {
            Body::from_stream(stream::once(async { Err::<String, _>(std::io::Error::from(ErrorKind::BrokenPipe)) }))
                .into_response()
        }
        Reaction::Stall => {
            sleep(Duration::from_millis(600)).await;
            StatusCode::OK.into_response()
        }
    }
}

/// A request that takes a place until it is over, also if its connection is closed first.
struct Busy<'s>(&'s AtomicU32, u32);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}
