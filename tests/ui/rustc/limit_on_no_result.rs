use retry_core::{RetryDirective, retryable};

#[retryable(strategy = "standard", policy = |_| RetryDirective::succeed(), max_time = "30s")]
async fn wait_for_job() -> Option<u32> {
    None
}

fn main() {}
