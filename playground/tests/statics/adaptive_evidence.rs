use retry_core::quota::EvidenceQuota;
use retry_core::{AdaptiveRetryStrategy, ExponentialBackoff, StandardRetryStrategy};
use std::time::Duration;

static STORE: AdaptiveRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    AdaptiveRetryStrategy::over(
        StandardRetryStrategy::new()
            .with_quota(EvidenceQuota::new())
            .max_attempts(4)
            .backoff(Duration::from_millis(150), Duration::from_secs(5)),
    );
