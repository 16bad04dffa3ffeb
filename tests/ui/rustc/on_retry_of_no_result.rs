use retry_core::{RetryDirective, retryable};

#[retryable(
    strategy = "standard",
    policy = |_| RetryDirective::succeed(),
    on_retry = |error, event| eprintln!("{}: {error}", event.attempt)
)]
async fn wait_for_job() -> Option<u32> {
    None
}

#[retryable(strategy = "standard", on_retry = |error, _| error.log())]
async fn without_a_policy() -> Option<u32> {
    None
}

#[retryable(strategy = "standard", blocking, policy = |_| RetryDirective::succeed(), on_retry = log)]
fn by_a_function() -> bool {
    true
}

fn log(_: &u32, _: &retry_core::Event) {}

fn main() {}
