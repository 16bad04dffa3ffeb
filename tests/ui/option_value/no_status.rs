use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(http_status = 42)]
    A,
    #[retry(http_status = 70_000)]
    B,
    #[retry(http_status = 200)]
    C,
    #[retry(http_status = 304, throttling)]
    D,
}

fn main() {}
