use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    Answered(#[retry(http_status)] String),
}

fn main() {}
