use retry_core::PatientRetryStrategy;
use retry_tower::RetryLayer;

static STORE: PatientRetryStrategy = PatientRetryStrategy::new();

fn main() {
    let after = 50;
    let _ = RetryLayer::new(&STORE).idempotent(true).hedge(&after);
    let _ = RetryLayer::new(&STORE).hedge_with(|_: &u32| after);
}

// Rule V11.
