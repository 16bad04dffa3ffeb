use retry_core::RetryInfo;
use std::time::Duration;

#[derive(RetryInfo)]
enum Failure {
    #[retry(retry_after = "1s")]
    A,
    #[retry(never, retry_after = "1s")]
    B,
    #[retry(throttling, safe = "no", retry_after = "1s")]
    C,
    #[retry(fault = "client")]
    D(#[retry(retry_after)] Duration),
}

fn main() {}
