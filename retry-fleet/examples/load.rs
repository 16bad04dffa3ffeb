//! Measures what fleets cost their store: calls per second, and the share of one core.
//!
//! It starts a redis-server of its own on the loopback interface. All processes of a fleet are connections of this program.
//!
//! ```sh
//! cargo run --release -p retry-fleet --example load        # 5 s for each row
//! cargo run --release -p retry-fleet --example load -- 20  # 20 s for each row
//! ```

use redis::Connection;
use retry_core::time::ManualTimer;
use retry_core::{Clock, ExponentialBackoff, PacedRetryStrategy, RetryQuota, StandardRetryStrategy};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, FleetQuota, Membership};
use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{interval, sleep};

const HASH: &str = "retry-fleet:1:{load}";
/// The cost of a retry.
const COST: u32 = 14;
/// The time between two retries of a process that retries.
const BETWEEN_RETRIES: Duration = Duration::from_millis(100);
/// The time within which all processes have to join.
const PATIENCE: Duration = Duration::from_mins(1);

/// What the processes do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Nothing,
    Retries,
    Limit,
}

impl Work {
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "a quota, no retries",
            Self::Retries => "a quota, ten retries a second each",
            Self::Limit => "a quota and a limit",
        }
    }
}

/// A server that is stopped when it is dropped.
struct Server(Child);

impl Server {
    fn start() -> Result<(Self, String), Box<dyn Error>> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port().to_string();
        let child = Command::new("redis-server")
            .args(["--bind", "127.0.0.1", "--save", "", "--maxclients", "4000", "--port", &port])
            .stdout(Stdio::null())
            .spawn()?;
        Ok((Self(child), format!("redis://127.0.0.1:{port}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What the server says of itself.
#[derive(Clone, Copy)]
struct Counters {
    calls: f64,
    /// The processor time, in seconds.
    time: f64,
}

impl Counters {
    fn read(server: &mut Connection) -> Result<Self, Box<dyn Error>> {
        let text: String = redis::cmd("INFO").arg("all").query(server)?;
        let number = |name: &str| -> f64 {
            let value = text.split_once(name).map_or("0", |(_, rest)| rest);
            value.split(['\r', ',']).next().and_then(|value| value.parse().ok()).unwrap_or(0.0)
        };
        let time = number("used_cpu_sys:") + number("used_cpu_user:");
        Ok(Self { calls: number("cmdstat_evalsha:calls="), time })
    }
}

fn join(url: &str, processes: u32, work: Work) -> Result<(Arc<FleetQuota>, Membership), Box<dyn Error>> {
    // The quota never runs out, so that each process is granted what it wants.
    let quota = Arc::new(FleetQuota::new(processes.saturating_mul(1_000_000)).cost(COST));
    let fleet = Fleet::new("load", RedisStore::open(url)?).quota(Arc::clone(&quota));
    let membership = if work == Work::Limit {
        let standard: StandardRetryStrategy<ExponentialBackoff, Arc<FleetQuota>> =
            StandardRetryStrategy::new().with_quota(Arc::clone(&quota));
        fleet.limit(Arc::new(PacedRetryStrategy::over(standard))).join()?
    } else {
        fleet.join()?
    };
    Ok((quota, membership))
}

async fn retries(quota: Arc<FleetQuota>) {
    let (mut ticks, clock) = (interval(BETWEEN_RETRIES), ManualTimer::new());
    loop {
        ticks.tick().await;
        quota.try_acquire(COST, &clock as &dyn Clock);
    }
}

async fn measure(processes: u32, work: Work, time: Duration) -> Result<(), Box<dyn Error>> {
    let (_server, url) = Server::start()?;
    let client = redis::Client::open(url.as_str())?;
    let started = Instant::now();
    let mut direct = loop {
        match client.get_connection() {
            Ok(connection) => break connection,
            Err(error) if started.elapsed() > PATIENCE => return Err(error.into()),
            Err(_) => sleep(Duration::from_millis(20)).await,
        }
    };
    let mut members = Vec::new();
    for _ in 0..processes {
        let (quota, membership) = join(&url, processes, work)?;
        let retries = (work == Work::Retries).then(|| tokio::spawn(retries(quota)));
        members.push((membership, retries));
        // A thousand connections at the same moment would overflow the backlog of the server.
        sleep(Duration::from_millis(2)).await;
    }
    while !members.iter().all(|(member, _)| member.status().members == processes) {
        assert!(started.elapsed() < PATIENCE, "not all processes have joined");
        sleep(Duration::from_millis(100)).await;
    }
    sleep(Duration::from_secs(2)).await;

    let (before, begun) = (Counters::read(&mut direct)?, Instant::now());
    sleep(time).await;
    let (after, elapsed) = (Counters::read(&mut direct)?, begun.elapsed().as_secs_f64());
    let (calls, busy) = (after.calls - before.calls, after.time - before.time);
    let bytes: u64 = redis::cmd("MEMORY").arg("USAGE").arg(HASH).arg("SAMPLES").arg(0).query(&mut direct)?;
    println!(
        "| {processes} | {} | {:.0} | {:.1} % | {:.0} µs | {} KB |",
        work.name(),
        calls / elapsed,
        100.0 * busy / elapsed,
        1e6 * busy / calls,
        bytes.div_ceil(1_000)
    );
    for (_, retries) in &members {
        if let Some(retries) = retries {
            retries.abort();
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(5), |seconds| seconds.parse())?;
    println!("| processes | with | calls per second | share of a core | time per call | memory |");
    println!("|---|---|---|---|---|---|");
    for work in [Work::Nothing, Work::Retries, Work::Limit] {
        for processes in [10, 100, 1_000] {
            measure(processes, work, Duration::from_secs(seconds)).await?;
        }
    }
    Ok(())
}
