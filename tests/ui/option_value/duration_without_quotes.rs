use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(retry_after = 5)]
    A,
    #[retry(retry_after)]
    B,
}

fn main() {}
