//! Ten replicas, one of which is always slow: hedges that ask another replica, with both kinds of delay.
//!
//! `cargo run --example replicas`, in virtual time, so it takes no time.

use retry_core::{PatientRetryStrategy, RetryInfo, StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// A replica that did not answer.
#[derive(Debug, thiserror::Error, RetryInfo)]
#[error("no answer")]
#[retry(timeout)]
struct NoAnswer;

/// Each way to read has a strategy, so that each learns from its own calls.
static PLAIN: PatientRetryStrategy = PatientRetryStrategy::new();
static STEERED: PatientRetryStrategy = PatientRetryStrategy::new();
static EVIDENCE: PatientRetryStrategy = PatientRetryStrategy::new();
/// Its bucket gets back what a hedge cost that wins. The quota of the others gets a part of it, so it sells hedges for one call in 21.
static BUCKET: StandardRetryStrategy = StandardRetryStrategy::new();

const REPLICAS: u64 = 10;

/// The replicas, of which the first one takes 300 ms and each of the others 8 to 12 ms.
struct Replicas {
    requests: AtomicU64,
}

impl Replicas {
    #[retryable(strategy = PLAIN, idempotent)]
    async fn get(&self, replica: u64) -> Result<u64, NoAnswer> {
        self.send(replica).await
    }

    /// One answer in ten is slow, so the delay that one call in twenty reaches is as long as the slow answers are: this does little.
    #[retryable(strategy = STEERED, idempotent, hedge = "p95", context = context)]
    async fn get_steered(&self, replica: u64) -> Result<u64, NoAnswer> {
        self.send(replica + u64::from(context.is_hedge())).await
    }

    /// A fixed delay, above usual answers and below the slow ones. This quota sells too few hedges for one slow answer in ten.
    #[retryable(strategy = EVIDENCE, idempotent, hedge = "30ms", context = context)]
    async fn get_by_evidence(&self, replica: u64) -> Result<u64, NoAnswer> {
        self.send(replica + u64::from(context.is_hedge())).await
    }

    /// The same with a bucket, which sells enough.
    #[retryable(strategy = BUCKET, idempotent, hedge = "30ms", context = context)]
    async fn get_by_bucket(&self, replica: u64) -> Result<u64, NoAnswer> {
        self.send(replica + u64::from(context.is_hedge())).await
    }

    async fn send(&self, replica: u64) -> Result<u64, NoAnswer> {
        let request = self.requests.fetch_add(1, Ordering::Relaxed);
        let replica = replica % REPLICAS;
        let usual = 8 + request * 7 % 5;
        sleep(Duration::from_millis(if replica == 0 { 300 } else { usual })).await;
        Ok(replica)
    }
}

#[tokio::main(flavor = "current_thread", start_paused = true)]
async fn main() -> Result<(), NoAnswer> {
    println!("5,000 calls of ten replicas, one of which is always slow");
    measure("without hedges", async |replicas, replica| replicas.get(replica).await).await?;
    measure("p95", async |replicas, replica| replicas.get_steered(replica).await).await?;
    measure("30 ms, evidence", async |replicas, replica| replicas.get_by_evidence(replica).await).await?;
    let p99 = measure("30 ms, bucket", async |replicas, replica| replicas.get_by_bucket(replica).await).await?;
    assert!(p99 <= 50, "a hedge to another replica does not wait for the slow one: {p99} ms");
    Ok(())
}

/// Makes the calls, prints what they took, and returns the time of 99 % of them in milliseconds.
async fn measure(name: &str, get: impl AsyncFn(&Replicas, u64) -> Result<u64, NoAnswer>) -> Result<u128, NoAnswer> {
    const CALLS: u64 = 5_000;
    let replicas = Replicas { requests: AtomicU64::new(0) };
    let mut times = Vec::new();
    for call in 0..CALLS {
        let began = Instant::now();
        // Each replica gets every tenth call.
        get(&replicas, call).await?;
        times.push(began.elapsed().as_millis());
    }
    times.sort_unstable();
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    let extra = replicas.requests.load(Ordering::Relaxed) - CALLS;
    println!("{name:18} p50 {:3} ms, p99 {:3} ms, {extra} extra requests", at(50), at(99));
    Ok(at(99))
}
