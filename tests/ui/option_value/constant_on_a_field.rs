use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    A(#[retry(http_status = 429)] u16),
    B(#[retry(safe = "yes")] bool),
}

fn main() {}
