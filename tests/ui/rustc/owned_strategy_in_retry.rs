use retry_core::{RetryInfo, StandardRetryStrategy, retry};

#[derive(RetryInfo)]
struct Failed;

fn main() {
    let _ = retry(StandardRetryStrategy::new(), || async { Ok::<(), Failed>(()) });
}

// Rule M7.
