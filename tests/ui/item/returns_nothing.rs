use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn get() {}

// No mistake follows from another one.
#[retryable(strategy = STORE, when = is_busy)]
async fn word_of_another_library() {}

#[retryable(strategy = STORE, policy = POLICY, max_time: "1s")]
async fn another_colon() {}

#[retryable(strategy = STORE, policy: POLICY)]
async fn colon() {}

fn main() {}
