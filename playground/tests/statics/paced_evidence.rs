use retry_core::quota::EvidenceQuota;
use retry_core::{EvidenceRetryStrategy, ExponentialBackoff, PacedRetryStrategy};

static STORE: PacedRetryStrategy<ExponentialBackoff, EvidenceQuota> =
    PacedRetryStrategy::over(EvidenceRetryStrategy::standard());
