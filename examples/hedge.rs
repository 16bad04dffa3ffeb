//! Ten servers, one of which pauses at some requests: the times of calls with hedges and without.
//!
//! `cargo run --example hedge`

use retry_core::{Event, EventKind, Observer, PatientRetryStrategy, RetryInfo, retryable};
use std::error::Error;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// A connection that failed, whose request may be repeated.
#[derive(Debug, thiserror::Error, RetryInfo)]
#[error(transparent)]
#[retry(fault = "server")]
struct Broken(#[from] io::Error);

/// One strategy for each kind of call, so that each learns from its own calls.
static PLAIN: PatientRetryStrategy = PatientRetryStrategy::new();
static HEDGED: PatientRetryStrategy = PatientRetryStrategy::new();

/// Counts the hedges, and those that were faster than the first attempt.
#[derive(Default)]
struct Hedges {
    sent: AtomicU32,
    won: AtomicU32,
}

impl Observer for Hedges {
    fn observe(&self, event: &Event) {
        match event.kind {
            EventKind::HedgeSent => self.sent.fetch_add(1, Ordering::Relaxed),
            EventKind::HedgeEnded { won: true, .. } => self.won.fetch_add(1, Ordering::Relaxed),
            _ => return,
        };
    }
}

static HEDGES: Hedges = Hedges { sent: AtomicU32::new(0), won: AtomicU32::new(0) };

/// The servers. Each request goes to the next one, and so does the second request of a call.
struct Servers {
    addresses: Vec<SocketAddr>,
    next: AtomicUsize,
    requests: AtomicU32,
}

impl Servers {
    #[retryable(strategy = PLAIN, idempotent)]
    async fn get(&self) -> Result<u32, Broken> {
        self.send().await
    }

    /// The first answer wins. If there is none after a delay that one call in twenty reaches, a second request is sent.
    #[retryable(strategy = HEDGED, idempotent, hedge = "p95", observer = HEDGES)]
    async fn get_hedged(&self) -> Result<u32, Broken> {
        self.send().await
    }

    async fn send(&self) -> Result<u32, Broken> {
        self.requests.fetch_add(1, Ordering::Relaxed);
        let next = self.next.fetch_add(1, Ordering::Relaxed) % self.addresses.len();
        let mut connection = TcpStream::connect(self.addresses[next]).await?;
        connection.write_u8(1).await?;
        Ok(connection.read_u32().await?)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut addresses = Vec::new();
    for server in 0..10 {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        addresses.push(listener.local_addr()?);
        tokio::spawn(serve(listener, server == 0));
    }
    let servers = Arc::new(Servers { addresses, next: AtomicUsize::new(0), requests: AtomicU32::new(0) });
    println!("3,000 calls of ten servers, one of which pauses for 200 ms at three of ten requests");
    let plain = measure(&servers, false).await?;
    println!("without hedges: {plain}");
    let hedged = measure(&servers, true).await?;
    println!("with hedges:    {hedged}");
    println!(
        "{} hedges, of which {} were faster",
        HEDGES.sent.load(Ordering::Relaxed),
        HEDGES.won.load(Ordering::Relaxed)
    );
    Ok(())
}

/// Makes 3,000 calls, 20 at a time, and returns what they took.
async fn measure(servers: &Arc<Servers>, is_hedged: bool) -> Result<String, Box<dyn Error>> {
    const CALLS: u32 = 3_000;
    servers.requests.store(0, Ordering::Relaxed);
    let made = Arc::new(AtomicU32::new(0));
    let mut callers = JoinSet::new();
    for _ in 0..20 {
        let (servers, made) = (Arc::clone(servers), Arc::clone(&made));
        callers.spawn(async move {
            let mut times = Vec::new();
            while made.fetch_add(1, Ordering::Relaxed) < CALLS {
                let began = Instant::now();
                if is_hedged {
                    servers.get_hedged().await?
                } else {
                    servers.get().await?
                };
                times.push(began.elapsed());
            }
            Ok::<_, Broken>(times)
        });
    }
    let mut times = Vec::new();
    while let Some(caller) = callers.join_next().await {
        times.extend(caller??);
    }
    times.sort();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100].as_secs_f64() * 1e3;
    let extra = servers.requests.load(Ordering::Relaxed) - CALLS;
    Ok(format!("p50 {:5.1} ms, p99 {:5.1} ms, {extra} extra requests", at(50), at(99)))
}

/// Answers each request after 4 to 6 ms. A server that is slow pauses before three of ten answers.
async fn serve(listener: TcpListener, is_slow: bool) {
    let mut requests = 0_u32;
    while let Ok((mut connection, _)) = listener.accept().await {
        requests += 1;
        let pauses = is_slow && requests % 10 < 3;
        let time = if pauses { 200 } else { 4 + u64::from(requests % 3) };
        let number = requests;
        tokio::spawn(async move {
            let _ = connection.read_u8().await;
            sleep(Duration::from_millis(time)).await;
            // A client that had another answer is gone.
            let _ = connection.write_u32(number).await;
        });
    }
}
