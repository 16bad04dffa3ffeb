use retry_core::StandardRetryStrategy;
use std::time::Duration;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new()
    .max_attempts(4)
    .backoff(Duration::from_millis(150), Duration::from_secs(5))
    .quota_capacity(50);
