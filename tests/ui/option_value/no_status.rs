use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(http_status = 42)]
    A,
    #[retry(http_status = 70_000)]
    B,
}

fn main() {}
