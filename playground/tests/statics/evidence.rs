use retry_core::EvidenceRetryStrategy;
use std::time::Duration;

static STORE: EvidenceRetryStrategy = EvidenceRetryStrategy::standard()
    .max_attempts(4)
    .backoff(Duration::from_millis(150), Duration::from_secs(5));
