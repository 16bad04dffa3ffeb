//! A service that leaves its fleet when it is asked to end: by SIGTERM, as from Kubernetes and systemd, or by SIGINT, as from Ctrl-C.
//!
//! It takes no new operations then, finishes those that run, and leaves. A process that ends without leaving is counted for 3 s.
//!
//! ```sh
//! RETRY_FLEET_URL=redis://127.0.0.1 cargo run -p retry-fleet --example service
//! ```

use retry_core::{EvidenceRetryStrategy, RetryInfo, retryable};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch};
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

static ORDERS: EvidenceRetryStrategy = EvidenceRetryStrategy::standard();
static SWITCH: FleetSwitch = FleetSwitch::new(|is_on| ORDERS.set_enabled(is_on));

#[derive(Debug, RetryInfo)]
#[retry(timeout)]
struct OrderError;

/// The time for the operations that still run. Together with the two seconds of `leave`, it is shorter than the time after
/// which Kubernetes kills a process, which is 30 s unless it is set.
const GRACE: Duration = Duration::from_secs(20);

/// A test calls it, too.
#[tokio::main(flavor = "current_thread")]
pub(crate) async fn main() -> Result<(), Box<dyn Error>> {
    // Before all else: a signal that comes before its handler ends the process.
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;

    let url = std::env::var("RETRY_FLEET_URL").unwrap_or_else(|_| "redis://127.0.0.1".into());
    let fleet = Fleet::new("orders", RedisStore::open(&url)?);
    let membership = fleet.quota(ORDERS.quota()).switch(&SWITCH).join()?;

    let mut running = JoinSet::new();
    let mut requests = interval(Duration::from_millis(100));
    let mut done = 0;
    loop {
        tokio::select! {
            _ = terminated.recv() => break,
            _ = interrupted.recv() => break,
            _ = requests.tick() => {
                running.spawn(order());
            }
            Some(Ok(Ok(()))) = running.join_next() => done += 1,
        }
    }

    let left = running.len();
    let finished = timeout(GRACE, running.join_all()).await;
    done += finished.map_or(0, |orders| orders.iter().filter(|order| order.is_ok()).count());
    membership.leave().await;
    println!("{left} operations ran when the service was asked to end; {done} operations succeeded");
    Ok(())
}

/// Stands for a request to another service, some of which time out.
#[retryable(strategy = ORDERS, idempotent)]
async fn order() -> Result<(), OrderError> {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);
    sleep(Duration::from_millis(300)).await;
    if ATTEMPTS.fetch_add(1, Ordering::Relaxed) % 10 == 9 { Err(OrderError) } else { Ok(()) }
}
