use retry_core::{RetryDirective, RetryErrorType, StandardRetryStrategy, policy_fn, retryable};

static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

#[retryable(strategy = STORE, policy = |found| found.is_none())]
async fn method() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = (|found| is_missing(found)))]
async fn function() -> Option<u32> {
    None
}

fn is_missing(found: &Option<u32>) -> bool {
    found.is_none()
}

#[retryable(strategy = STORE, policy = |found| { matches!(found, None) })]
async fn macro_in_a_block() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = |found| *found == Some(1) || !(*found < Some(5)))]
async fn operator() -> Option<u32> {
    None
}

// Each value is reported once, and the closure is not reported as well.
struct Client {
    strict: bool,
}

impl Client {
    #[retryable(strategy = STORE, policy = |found| match found {
        None => RetryDirective::retry(RetryErrorType::Other),
        Some(0) => if self.strict { true } else { RetryDirective::succeed() },
        _ => false,
    })]
    async fn some_of_the_values(&self) -> Option<u32> {
        None
    }
}

// Rustc's own error says enough in a closure that names its type, or whose type `policy_fn` knows.
#[retryable(strategy = STORE, policy = |found| -> RetryDirective { found.is_none() })]
async fn named_type() -> Option<u32> {
    None
}

#[retryable(strategy = STORE, policy = policy_fn(|found: &Option<u32>| found.is_none()))]
async fn in_a_function() -> Option<u32> {
    None
}

fn main() {}
