//! One retry strategy for each bucket: when one of them is overloaded, the calls to the other still retry.
//!
//! `cargo run --example scopes`

use retry_core::{PatientRetryStrategy, RetryInfo, RetryStrategy, ScopedRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling, fault = "client")]
    SlowDown,
}

// The service throttles each bucket separately, so the bucket is the key. The backoff and the wait are short, to keep the example fast.
static BUCKETS: ScopedRetryStrategy<String, PatientRetryStrategy> = ScopedRetryStrategy::new(|| {
    PatientRetryStrategy::new()
        .max_attempts(3)
        .backoff(Duration::from_millis(10), Duration::from_millis(40))
        .max_wait_for_service(Duration::from_millis(200))
});

#[retryable(strategy = BUCKETS.scope(bucket.name))]
async fn put(bucket: &Bucket, key: u32) -> Result<(), StoreError> {
    bucket.attempt(key)
}

/// Stands in for the service. An overloaded bucket throttles every request, the other one every second request.
struct Bucket {
    name: &'static str,
    overloaded: bool,
    attempts: AtomicU32,
}

impl Bucket {
    const fn new(name: &'static str, overloaded: bool) -> Self {
        Self { name, overloaded, attempts: AtomicU32::new(0) }
    }

    fn attempt(&self, _key: u32) -> Result<(), StoreError> {
        let attempt = self.attempts.fetch_add(1, Ordering::Relaxed);
        if self.overloaded || attempt.is_multiple_of(2) { Err(StoreError::SlowDown) } else { Ok(()) }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let buckets = [Bucket::new("logs", true), Bucket::new("photos", false)];

    println!("{:>4}  {:<8} {:>8}  {:<18} {:<9} {:>6}", "call", "bucket", "attempts", "outcome", "quota", "time");
    for key in 1..=12 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        for bucket in &buckets {
            let (before, began) = (bucket.attempts.load(Ordering::Relaxed), Instant::now());
            let outcome = format!("{:?}", put(bucket, key).await);
            let attempts = bucket.attempts.load(Ordering::Relaxed) - before;
            let mode = BUCKETS.scope(bucket.name).quota_mode().map_or("", |mode| mode.as_str());
            let took = began.elapsed().as_secs_f64();
            println!("{key:>4}  {:<8} {attempts:>8}  {outcome:<18} {mode:<9} {took:>4.2} s", bucket.name);
        }
    }
    println!();
    println!("`logs` is overloaded, so after some attempts its calls wait for it, 0.2 s each.");
    println!("`photos` has its own strategy, so its calls were retried immediately and succeeded.");
}
