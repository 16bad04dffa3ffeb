use retry_core::quota::EvidenceQuota;
use retry_core::{AdaptiveRetryStrategy, EvidenceRetryStrategy, ExponentialBackoff};
use std::time::Duration;

static STORE: AdaptiveRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    AdaptiveRetryStrategy::over(
        EvidenceRetryStrategy::standard()
            .max_attempts(4)
            .backoff(Duration::from_millis(150), Duration::from_secs(5)),
    );
