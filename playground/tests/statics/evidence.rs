use retry_core::quota::EvidenceQuota;
use retry_core::{ExponentialBackoff, StandardRetryStrategy};
use std::time::Duration;

static STORE: StandardRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    StandardRetryStrategy::new()
        .with_quota(EvidenceQuota::new())
        .max_attempts(4)
        .backoff(Duration::from_millis(150), Duration::from_secs(5));
