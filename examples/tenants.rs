//! A worker for several tenants: each has its own strategy, and metrics show which of them is in trouble.
//!
//! `cargo run --example tenants`

use metrics_exporter_prometheus::PrometheusBuilder;
use retry_core::observe::metrics;
use retry_core::{PatientRetryStrategy, RetryInfo, ScopedRetryStrategy, retryable};
use std::error::Error;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

#[derive(Debug, RetryInfo)]
#[retry(throttling)]
struct TooManyRequests;

// The name of a tenant becomes the label `strategy`. The map is bounded, and so is the number of labels. The waits are short, to keep
// the example fast.
static TENANTS: ScopedRetryStrategy<String, PatientRetryStrategy> = ScopedRetryStrategy::new(|| {
    PatientRetryStrategy::new()
        .backoff(Duration::from_millis(5), Duration::from_millis(20))
        .max_wait_for_service(Duration::from_millis(100))
})
.named_by(String::clone)
.max_scopes(100);

#[retryable(strategy = TENANTS.scope(tenant))]
async fn import(tenant: &str) -> Result<(), TooManyRequests> {
    send(tenant).await
}

/// Stands in for the service of a tenant: one is overloaded, and the other throttles each fifth request.
#[expect(clippy::unused_async, reason = "a client would wait for the answer here")]
async fn send(tenant: &str) -> Result<(), TooManyRequests> {
    static REQUESTS: AtomicU32 = AtomicU32::new(0);
    let ok = tenant != "acme" && !REQUESTS.fetch_add(1, Ordering::Relaxed).is_multiple_of(5);
    if ok { Ok(()) } else { Err(TooManyRequests) }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = PrometheusBuilder::new().install_recorder()?;
    metrics::install()?;
    for _ in 0..10 {
        for tenant in ["acme", "umbrella"] {
            if import(tenant).await.is_err() {
                println!("{tenant} waits for the next round");
            }
        }
    }
    for line in recorder.render().lines() {
        if line.starts_with("retry_operations") || line.starts_with("retry_quota") {
            println!("{line}");
        }
    }
    Ok(())
}
