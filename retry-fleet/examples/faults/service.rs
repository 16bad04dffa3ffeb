//! The service: it accepts so many requests per second, and rejects the others.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The requests per second that the service accepts.
pub(crate) const LIMIT: f64 = 200.0;
/// The requests that it accepts at once after a pause.
const BURST: f64 = 20.0;
/// The answer to a request that was accepted. Any other is a rejection.
pub(crate) const ACCEPTED: u8 = 1;

/// A service on the loopback interface. Its thread ends with the program.
pub(crate) struct Service {
    pub(crate) address: SocketAddr,
    /// When each request came, and whether it was accepted.
    requests: Arc<Mutex<Vec<(Instant, bool)>>>,
}

/// What happened in a period.
#[derive(Clone, Copy)]
pub(crate) struct Seen {
    /// The part of the limit that was used.
    pub(crate) used: f64,
    /// The part of the requests that were rejected.
    pub(crate) rejected: f64,
}

impl Service {
    pub(crate) fn start() -> io::Result<Self> {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let service = Self { address: socket.local_addr()?, requests: Arc::default() };
        let requests = Arc::clone(&service.requests);
        thread::spawn(move || serve(&socket, &requests));
        Ok(service)
    }

    pub(crate) fn seen(&self, from: Instant, time: Duration) -> Seen {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let within = requests.iter().filter(|(at, _)| (from..from + time).contains(at));
        let (mut all, mut accepted) = (0.0_f64, 0.0);
        for (_, is_accepted) in within {
            all += 1.0;
            accepted += if *is_accepted { 1.0 } else { 0.0 };
        }
        Seen { used: accepted / (LIMIT * time.as_secs_f64()), rejected: (all - accepted) / all.max(1.0) }
    }
}

fn serve(socket: &UdpSocket, requests: &Mutex<Vec<(Instant, bool)>>) {
    let (mut bucket, mut filled) = (BURST, Instant::now());
    let mut request = [0; 8];
    while let Ok((_, from)) = socket.recv_from(&mut request) {
        let now = Instant::now();
        bucket = (bucket + LIMIT * now.duration_since(filled).as_secs_f64()).min(BURST);
        filled = now;
        let is_accepted = bucket >= 1.0;
        if is_accepted {
            bucket -= 1.0;
        }
        requests.lock().unwrap_or_else(PoisonError::into_inner).push((now, is_accepted));
        // A process that was killed does not receive it.
        let _ = socket.send_to(&[if is_accepted { ACCEPTED } else { 0 }], from);
    }
}
