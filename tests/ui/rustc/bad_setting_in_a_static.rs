use retry_core::StandardRetryStrategy;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new().max_attempts(0);

fn main() {}

// Rule C2.
