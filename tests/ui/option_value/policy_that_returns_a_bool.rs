use retry_core::{RetryDirective, RetryErrorType, StandardRetryStrategy, policy_fn, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, policy = |found| found.is_none())]
async fn method() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = |found| Self::is_missing(found))]
async fn function() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = policy_fn(|found: &Option<u32>| { matches!(found, None) }))]
async fn macro_in_a_function() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = |found| *found == Some(1) || !(*found < Some(5)))]
async fn operator() -> Option<u32> {
    None
}

// It is reported once, and rustc does not report it again.
struct Client {
    strict: bool,
}

impl Client {
    #[retryable(
    strategy = STORE,
    policy = |found| match found {
        None => RetryDirective::retry(RetryErrorType::Other),
        Some(0) => if self.strict { true } else { false },
        _ => false,
    },
    max_atempts = 3
)]
    async fn some_of_the_values(&self) -> Option<u32> {
        None
    }
}

// These are no `bool`, or say their type themselves.
#[retryable(strategy = STORE, policy = |_| todo!())]
async fn unfinished() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = |found| -> RetryDirective { is_directive(found) })]
async fn named_type() -> Option<u32> {
    None
}

fn is_directive(found: &Option<u32>) -> RetryDirective {
    if found.is_none() { RetryDirective::retry(RetryErrorType::Other) } else { RetryDirective::succeed() }
}

fn main() {}
