//! The services that the programs call. They fail in the same way for each of them.

use futures_util::stream::{self, Stream};
use std::io::{BufRead, BufReader, Error, ErrorKind, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tokio::task::yield_now;

/// An HTTP server on this machine. `/report` fails with 500, then with 429, and then succeeds. Any other path is 404.
#[derive(Debug)]
pub struct FlakyService {
    address: SocketAddr,
    requests: Arc<AtomicUsize>,
}

impl FlakyService {
    /// Starts the service on a free port. It ends with the program.
    ///
    /// # Panics
    ///
    /// Panics if there is no free port.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a bound socket has an address");
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // A client that hangs up is of no interest.
                let _ = answer(&connection, &counter);
            }
        });
        Self { address, requests }
    }

    /// Returns the URL of a path.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Prints the outcome of a call, and how many requests the service received since the last time.
    pub fn print(&self, path: &str, succeeded: bool) {
        let requests = self.requests.swap(0, Ordering::SeqCst);
        println!("{path} {} at attempt {requests}", if succeeded { "succeeded" } else { "failed" });
    }
}

fn answer(mut connection: &TcpStream, requests: &AtomicUsize) -> Result<(), Error> {
    let mut lines = BufReader::new(connection).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    while lines.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
    let earlier = requests.fetch_add(1, Ordering::SeqCst);
    let status = match (request.starts_with("GET /report "), earlier) {
        (true, 0) => "500 Internal Server Error",
        (true, 1) => "429 Too Many Requests",
        (true, _) => "200 OK",
        (false, _) => "404 Not Found",
    };
    write!(connection, "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: 6\r\n\r\nreport")
}

/// A feed of events, which are numbers. It is away at the second connection, and each other connection breaks after three events.
#[derive(Debug, Default)]
pub struct Feed {
    connections: AtomicUsize,
}

impl Feed {
    /// Connects, and returns the events after this one.
    ///
    /// # Errors
    ///
    /// Returns an error if the feed is away.
    pub async fn connect(&self, last: u32) -> Result<impl Stream<Item = Result<u32, Error>> + use<>, Error> {
        yield_now().await;
        if self.connections.fetch_add(1, Ordering::SeqCst) == 1 {
            return Err(ErrorKind::ConnectionRefused.into());
        }
        let events = (last + 1..).take(3).map(Ok);
        Ok(stream::iter(events.chain([Err(ErrorKind::ConnectionReset.into())])))
    }

    /// Returns how often [`connect`](Feed::connect) was called.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// A table that accepts half of the entries of each request.
#[derive(Debug, Default)]
pub struct Table {
    requests: AtomicUsize,
}

impl Table {
    /// Writes entries, and returns those that were not accepted.
    pub async fn put(&self, entries: &[u32]) -> Vec<u32> {
        yield_now().await;
        self.requests.fetch_add(1, Ordering::SeqCst);
        entries[entries.len().div_ceil(2)..].to_vec()
    }

    /// Returns how often [`put`](Table::put) was called.
    pub fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}
