use retry_core::{RetryStrategy, StandardRetryStrategy, TokioTimer};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

fn main() {
    let token = STORE.acquire_initial_token(&TokioTimer).unwrap();
    let _ = STORE.record_success(token, &TokioTimer);
    let _ = STORE.record_success(token, &TokioTimer);
}
