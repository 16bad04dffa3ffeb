use retry_core::PatientRetryStrategy;
use std::time::Duration;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new()
    .max_attempts(4)
    .backoff(Duration::from_millis(150), Duration::from_secs(5));
