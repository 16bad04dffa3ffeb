//! The service that the programs call. It fails in the same way for each of them.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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

fn answer(mut connection: &TcpStream, requests: &AtomicUsize) -> std::io::Result<()> {
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
