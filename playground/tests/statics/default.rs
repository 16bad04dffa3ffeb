use retry_core::StandardRetryStrategy;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
