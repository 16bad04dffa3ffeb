//! A service that leaves its fleet when it is asked to end: by SIGTERM, as from Kubernetes and systemd, or by SIGINT, as from Ctrl-C.
//!
//! It takes no new operations then, finishes those that run, and leaves. A process that ends without leaving is counted for 3 s.
//! Its settings are variables, such as `ORDERS_MAX_ATTEMPTS=5`, which retry-config reads. WALKTHROUGH.md runs ten of
//! these processes.
//!
//! ```sh
//! RETRY_FLEET_URL=redis://127.0.0.1 cargo run -p retry-fleet --features tracing --example service
//! ```

use retry_config::{ConfiguredStrategy, RetryConfig};
use retry_core::quota::EvidenceQuota;
use retry_core::{ExponentialBackoff, RetryInfo, StandardRetryStrategy, TokioTimer, retryable};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetSwitch};
use std::error::Error;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::task::JoinSet;
use tokio::time::{interval, sleep, timeout};

static ORDERS: LazyLock<ConfiguredStrategy<ExponentialBackoff, EvidenceQuota>> = LazyLock::new(|| {
    let base = StandardRetryStrategy::new().with_quota(EvidenceQuota::new()).name("orders");
    RetryConfig::new().build_on(base).expect("no setting is invalid")
});
static SWITCH: FleetSwitch = FleetSwitch::new(|is_on| ORDERS.set_enabled(is_on));

#[derive(Debug, RetryInfo)]
#[retry(timeout)]
struct OrderError;

/// The time for the operations that still run. Together with the two seconds of `leave`, it is shorter than the time after
/// which Kubernetes kills a process, which is 30 s unless it is set.
const GRACE: Duration = Duration::from_secs(20);

/// A test calls it, too.
pub(crate) fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn run() -> Result<(), Box<dyn Error>> {
    // Before all else: a signal that comes before its handler ends the process.
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    // The warnings of the fleet.
    tracing_subscriber::fmt().with_ansi(false).with_writer(std::io::stderr).init();

    // A misspelled setting is an error.
    ORDERS.apply(&RetryConfig::from_environment_prefix("ORDERS_")?, &TokioTimer)?;
    let url = std::env::var("RETRY_FLEET_URL").unwrap_or_else(|_| "redis://127.0.0.1".into());
    let fleet = Fleet::new("orders", RedisStore::open(&url)?);
    let membership = fleet.quota(ORDERS.quota()).switch(&SWITCH).join()?;
    println!("started, with at most {} attempts for an operation", ORDERS.settings().max_attempts);

    let mut running = JoinSet::new();
    let mut requests = interval(Duration::from_millis(100));
    let (mut succeeded, mut failed) = (0, 0);
    let mut count = |is_ok: bool| *(if is_ok { &mut succeeded } else { &mut failed }) += 1;
    loop {
        tokio::select! {
            _ = terminated.recv() => break,
            _ = interrupted.recv() => break,
            _ = requests.tick() => {
                running.spawn(order());
            }
            Some(Ok(order)) = running.join_next() => count(order.is_ok()),
        }
    }

    let left = running.len();
    let finished = timeout(GRACE, running.join_all()).await;
    for order in finished.unwrap_or_default() {
        count(order.is_ok());
    }
    membership.leave().await;
    println!(
        "{left} operations ran when the service was asked to end; {succeeded} operations succeeded, {failed} failed"
    );
    Ok(())
}

/// Stands for a request to another service, some of which time out.
#[retryable(strategy = ORDERS, idempotent)]
async fn order() -> Result<(), OrderError> {
    static ATTEMPTS: AtomicU32 = AtomicU32::new(0);
    sleep(Duration::from_millis(300)).await;
    if ATTEMPTS.fetch_add(1, Ordering::Relaxed) % 10 == 9 { Err(OrderError) } else { Ok(()) }
}
