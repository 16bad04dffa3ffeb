use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

#[derive(RetryInfo)]
struct Failed;

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE)]
async fn get() {}

#[retryable(strategy = STORE, when = is_busy)]
async fn word_of_another_library() {}

#[retryable(strategy = STORE, on_retry = |error, _| drop(error), retry_if(is_busy))]
async fn another_word() {}

#[retryable(strategy = STORE, retry_if: is_busy)]
async fn word_in_a_list_that_cannot_be_read() {}

// No mistake follows from another one.
#[retryable(strategy = STORE, polcy = retry_core::StandardRetryPolicy::new())]
async fn misspelled() {}

#[retryable(strategy = STORE, policy = POLICY, max_time: "1s")]
async fn another_colon() {}

#[retryable(strategy = STORE, policy: POLICY)]
async fn colon() {}

fn main() {}
