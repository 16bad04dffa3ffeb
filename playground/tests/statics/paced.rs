use retry_core::{PacedRetryStrategy, StandardRetryStrategy};

static STORE: PacedRetryStrategy = PacedRetryStrategy::over(StandardRetryStrategy::new());
