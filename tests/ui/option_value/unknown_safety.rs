use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(safe = "yess")]
    A,
    #[retry(safe = true)]
    B,
}

fn main() {}
