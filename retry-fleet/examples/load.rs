//! Measures what fleets cost their store: calls per second, and the share of one core.
//!
//! It starts a redis-server on the loopback interface. All processes of a fleet are connections of this program.
//!
//! ```sh
//! cargo run --release -p retry-fleet --example load        # 5 s for each row
//! cargo run --release -p retry-fleet --example load -- 20  # 20 s for each row
//! ```

use redis::Connection;
use retry_core::RetryErrorType::Other;
use retry_core::quota::EvidenceQuota;
use retry_core::{RetryQuota, TokioTimer};
use retry_fleet::protocol::{Call, Knowledge, LimitCall};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, Membership, Store};
use retry_limits::PacedRetryStrategy;
use std::error::Error;
use std::net::{Ipv4Addr, TcpListener};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::{interval, sleep};

const HASH: &str = "retry-fleet:1:{load}";
/// The time between two failures of a process whose attempts fail.
const BETWEEN_FAILURES: Duration = Duration::from_millis(100);
/// The time within which all processes have to join.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the processes do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Work {
    Nothing,
    Failures,
    Limit,
}

impl Work {
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "a quota, nothing fails",
            Self::Failures => "a quota, ten failures a second each",
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

fn join(url: &str, work: Work) -> Result<(Arc<EvidenceQuota>, Membership), Box<dyn Error>> {
    let quota = Arc::new(EvidenceQuota::new());
    let fleet = Fleet::new("load", RedisStore::open(url)?).quota(Arc::clone(&quota));
    let membership =
        if work == Work::Limit { fleet.limit(Arc::new(PacedRetryStrategy::new())).join()? } else { fleet.join()? };
    Ok((quota, membership))
}

async fn fail(quota: Arc<EvidenceQuota>) {
    let mut ticks = interval(BETWEEN_FAILURES);
    loop {
        ticks.tick().await;
        quota.pay(14, Other, &TokioTimer);
    }
}

/// Lets very many processes call once each, over one connection, and then end without a word. Returns the longest time for which a
/// call has blocked the store, in milliseconds.
async fn longest_call(processes: u32) -> Result<f64, Box<dyn Error>> {
    let (_server, url) = Server::start()?;
    let client = redis::Client::open(url.as_str())?;
    let mut store = RedisStore::open(&url)?;
    let started = Instant::now();
    let call = |number: u32| {
        let mut call = Call::new(format!("process {number}"), "fresh");
        call.quota = Some(Knowledge { missing: 1_000, capacity: 2_000, timeout_age: None });
        call.limit = Some(LimitCall::default());
        call
    };
    while let Err(error) = store.call("load", &call(0)).await {
        if started.elapsed() > PATIENCE {
            return Err(error.into());
        }
        sleep(Duration::from_millis(20)).await;
    }
    let mut direct = client.get_connection()?;
    // All calls from here on, in microseconds.
    redis::cmd("CONFIG").arg("SET").arg("slowlog-log-slower-than").arg(500).exec(&mut direct)?;
    for number in 1..processes {
        store.call("load", &call(number)).await?;
    }
    // Half a minute later for the store, all but those that call again are removed.
    for round in 0..2 {
        redis::cmd("HINCRBY").arg(HASH).arg("now").arg(31_000).exec(&mut direct)?;
        for number in 0..processes / 2 {
            store.call("load", &call(number + round)).await?;
        }
    }
    let slow: Vec<Vec<redis::Value>> = redis::cmd("SLOWLOG").arg("GET").arg(-1).query(&mut direct)?;
    let times = slow.iter().filter_map(|entry| entry.get(2)).map(redis::from_redis_value_ref::<u32>);
    Ok(times.collect::<Result<Vec<_>, _>>()?.into_iter().max().map_or(0.5, |time| f64::from(time) / 1e3))
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
        let (quota, membership) = join(&url, work)?;
        let failures = (work == Work::Failures).then(|| tokio::spawn(fail(quota)));
        members.push((membership, failures));
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
    for (_, failures) in &members {
        if let Some(failures) = failures {
            failures.abort();
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let seconds = std::env::args().nth(1).map_or(Ok(5), |seconds| seconds.parse())?;
    println!("| processes | with | calls per second | share of a core | time per call | memory |");
    println!("|---|---|---|---|---|---|");
    for work in [Work::Nothing, Work::Failures, Work::Limit] {
        for processes in [10, 100, 1_000] {
            measure(processes, work, Duration::from_secs(seconds)).await?;
        }
    }
    println!();
    for processes in [1_000, 10_000] {
        let longest = longest_call(processes).await?;
        println!(
            "With {processes} processes, of which half end without a word, no call blocks the store for more than {longest:.1} ms."
        );
    }
    Ok(())
}
