use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Failure {
    #[retry(retry_after)]
    one: std::time::Duration,
    #[retry(retry_after)]
    two: std::time::Duration,
}

fn main() {}
