//! The server: an HTTP server that answers its requests one after the other, and stalls once.

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

/// A running server. It ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    queue: Arc<Queue>,
    task: JoinHandle<()>,
}

/// The requests that are to be answered.
#[derive(Debug)]
struct Queue {
    service_time: Duration,
    state: Mutex<Work>,
}

/// What the server has to do.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// When the last request of the queue will be answered. A request whose client has given up is worked off as well,
    /// since the server can't know.
    done: Instant,
    received: u64,
}

impl Server {
    /// Starts a server on a free local port.
    pub(crate) async fn start(service_time: Duration) -> io::Result<Self> {
        let state = Mutex::new(Work { done: Instant::now(), received: 0 });
        let queue = Arc::new(Queue { service_time, state });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let router = Router::new().route("/", get(answer)).with_state(Arc::clone(&queue));
        let task = tokio::spawn(async move {
            // `serve` never returns an error: it waits after an error of `accept` and tries again.
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { address, queue, task })
    }

    /// Answers nothing for this time.
    pub(crate) fn stall(&self, time: Duration) {
        self.queue.work(|work| work.done = work.done.max(Instant::now()) + time);
    }

    /// Returns the number of requests received so far.
    pub(crate) fn received(&self) -> u64 {
        self.queue.work(|work| work.received)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Queue {
    fn work<R>(&self, change: impl FnOnce(&mut Work) -> R) -> R {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn answer(State(queue): State<Arc<Queue>>) -> &'static str {
    let done = queue.work(|work| {
        work.received += 1;
        work.done = work.done.max(Instant::now()) + queue.service_time;
        work.done
    });
    sleep_until(done).await;
    "done"
}
