use retry_core::{RetryInfo, retryable};

#[derive(RetryInfo)]
enum Failure {
    #[retryable(throttling)]
    Busy,
}

fn main() {
    let _ = Failure::Busy;
}
