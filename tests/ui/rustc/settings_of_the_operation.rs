use retry_core::{AdaptiveRetryStrategy, PatientRetryStrategy, StandardRetryStrategy};
use std::time::Duration;

static PATIENT: PatientRetryStrategy = PatientRetryStrategy::new().max_time(Duration::from_secs(30));
static STANDARD: StandardRetryStrategy = StandardRetryStrategy::new().idempotent(true);
static ADAPTIVE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::new().attempt_timeout(Duration::from_secs(2));
static LIMITED: PatientRetryStrategy = PatientRetryStrategy::new().timeout(Duration::from_secs(2));
static RETRIED: StandardRetryStrategy = StandardRetryStrategy::new().max_retries(3);

fn main() {}
