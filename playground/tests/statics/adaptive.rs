use retry_core::{AdaptiveRetryStrategy, StandardRetryStrategy};
use std::time::Duration;

static STORE: AdaptiveRetryStrategy = AdaptiveRetryStrategy::over(
    StandardRetryStrategy::aws_2_0()
        .max_attempts(4)
        .backoff(Duration::from_millis(150), Duration::from_secs(5))
        .quota_capacity(50),
);
