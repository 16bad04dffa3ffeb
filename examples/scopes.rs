//! One retry strategy for each bucket: when one of them is overloaded, the calls to the other still retry.
//!
//! `cargo run --example scopes`

use retry_core::{RetryInfo, RetryQuota, ScopedRetryStrategy, StandardRetryStrategy, retryable};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[derive(Debug, RetryInfo)]
enum StoreError {
    #[retry(throttling, fault = "client")]
    SlowDown,
}

// The service throttles each bucket separately, so the bucket is the key. The quota is small, so that this example
// exhausts it: a retry after throttling costs 5, so it pays for six retries.
static BUCKETS: ScopedRetryStrategy<String> = ScopedRetryStrategy::new(|| {
    StandardRetryStrategy::new()
        .max_attempts(3)
        .backoff(Duration::from_millis(10), Duration::from_millis(40))
        .quota_capacity(30)
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

    println!("{:>4}  {:<8} {:>8}  {:<18} {:>10}", "call", "bucket", "attempts", "outcome", "quota left");
    for key in 1..=6 {
        for bucket in &buckets {
            let before = bucket.attempts.load(Ordering::Relaxed);
            let outcome = put(bucket, key).await;
            let attempts = bucket.attempts.load(Ordering::Relaxed) - before;
            let left = BUCKETS.scope(bucket.name).quota().available();
            println!("{key:>4}  {:<8} {attempts:>8}  {:<18} {left:>10}", bucket.name, format!("{outcome:?}"));
        }
    }
    println!();
    println!("The quota of `logs` is exhausted, so each call makes only one attempt from then on.");
    println!("`photos` has its own quota, so its retries continued and every call succeeded.");
}
