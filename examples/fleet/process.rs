//! One process of the fleet: its strategies, and how it joins. The rest of its code is that of the example `bulk_copy`.

use crate::client::Client;
use crate::http::Http;
use crate::job::Job;
use crate::options::ProcessOptions;
use crate::report::Report;
use crate::tally::{Counts, Tally};
use retry_core::quota::EvidenceQuota;
use retry_core::{ErasedStrategy, ExponentialBackoff, StandardRetryStrategy};
use retry_fleet::redis1::RedisStore;
use retry_fleet::{Fleet, Membership};
use retry_limits::PacedRetryStrategy;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::Duration;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The number of tasks of a process, which copy at the same time. It is large enough that their retries empty fixed
/// quotas in the outage.
pub(crate) const TASKS: usize = 32;
/// The maximum time of one attempt.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(2);
/// The variable of the environment with the URL of the store, which can contain a password.
pub(crate) const STORE: &str = "FLEET_STORE";

/// Reads are not limited, so they have a strategy without a limit. Both have one quota.
static QUOTA: EvidenceQuota = EvidenceQuota::new();
static READS: StandardRetryStrategy<ExponentialBackoff, &EvidenceQuota> =
    StandardRetryStrategy::new().with_quota(&QUOTA);
static WRITES: PacedRetryStrategy<ExponentialBackoff, &EvidenceQuota> =
    PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(&QUOTA));

/// Joins the named fleet, whose state is kept in this store.
fn join(fleet: &str, url: &str) -> Result<Membership, Box<dyn Error>> {
    let fleet = Fleet::new(fleet, RedisStore::open(url)?);
    Ok(fleet.quota(&QUOTA).limit(&WRITES).join()?)
}

/// Copies the objects whose keys come in on standard input, and reports on standard output.
pub(crate) async fn run(options: &ProcessOptions) -> Result<(), Box<dyn Error>> {
    let tally = Tally::default();
    tracing_subscriber::registry().with(tally.clone()).try_init()?;
    let keys = read_keys()?;
    let membership = match &options.fleet {
        None => None,
        Some(fleet) => Some(join(fleet, &std::env::var(STORE)?)?),
    };
    let http = Http::new(format!("http://{}", options.service), ATTEMPT_TIMEOUT)?;
    let client = Arc::new(Client { http, reads: ErasedStrategy::new(&READS), writes: ErasedStrategy::new(&WRITES) });
    let job = Arc::new(Job::new(keys));

    let report = |membership: Option<&Membership>| -> io::Result<()> {
        writeln!(io::stdout(), "{}", observe(&client, &job, &tally, membership))
    };
    let mut work = std::pin::pin!(job.run(&client, TASKS));
    loop {
        tokio::select! {
            () = &mut work => break,
            () = tokio::time::sleep(Duration::from_millis(250)) => report(membership.as_ref())?,
        }
    }
    report(membership.as_ref())?;
    if let Some(membership) = membership {
        membership.leave().await;
    }
    Ok(())
}

/// Returns what the process has done.
fn observe(client: &Client, job: &Job, tally: &Tally, membership: Option<&Membership>) -> Report {
    let counted = tally.counted();
    let throttled = |counts: &Counts| counts.get("throttling").copied().unwrap_or(0);
    let status = membership.map(Membership::status);
    Report {
        copied: job.copied(),
        attempts: client.http.requests(),
        retries: counted.retries.values().sum(),
        rejected: throttled(&counted.retries) + counted.stops.values().map(throttled).sum::<u32>(),
        failed: job.failed(),
        share: status.map_or_else(|| WRITES.send_rate(), |status| status.share),
        is_connected: status.and_then(|status| status.is_connected),
    }
}

/// Reads keys up to an empty line. After it, the process ends when its standard input does, because the program that
/// started it has ended then.
fn read_keys() -> io::Result<Vec<String>> {
    let mut keys = Vec::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.is_empty() {
            break;
        }
        keys.push(line);
    }
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    });
    Ok(keys)
}
