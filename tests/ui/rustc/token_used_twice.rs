use retry_core::{Success, RetryStrategy, StandardRetryStrategy, TokioTimer};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn main() {
    let token = STORE.acquire_initial_token(&TokioTimer).unwrap();
    let _ = STORE.record_success(token, &Success::default(), &TokioTimer);
    let _ = STORE.record_success(token, &Success::default(), &TokioTimer);
}

// Rule R12.
