use retry_core::quota::EvidenceQuota;
use retry_core::{ExponentialBackoff, PacedRetryStrategy, StandardRetryStrategy};

static STORE: PacedRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    PacedRetryStrategy::over(StandardRetryStrategy::new().with_quota(EvidenceQuota::new()));
