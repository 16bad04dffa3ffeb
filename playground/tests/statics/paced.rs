use retry_core::StandardRetryStrategy;
use retry_limits::PacedRetryStrategy;

static STORE: PacedRetryStrategy = PacedRetryStrategy::over(StandardRetryStrategy::new());
