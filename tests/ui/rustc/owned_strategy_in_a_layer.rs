use retry_core::StandardRetryStrategy;
use retry_tower::RetryLayer;

fn main() {
    RetryLayer::new(StandardRetryStrategy::new());
}

// Rules M7, W6.
