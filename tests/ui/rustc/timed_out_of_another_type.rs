use retry_core::{RetryInfo, StandardRetryStrategy, TimedOut, policy_fn, retryable, RetryDirective};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[derive(RetryInfo)]
struct Failed;

struct Answer {
    tokens: u64,
}

#[retryable(strategy = STORE, max_time = "1s", timed_out = |_: TimedOut| Failed, policy = policy_fn(|_: &Answer| RetryDirective::succeed()))]
async fn not_a_result() -> Answer {
    Answer { tokens: 7 }
}

fn main() {}
