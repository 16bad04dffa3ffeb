use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(fault = client)]
    A,
    #[retry(fault)]
    B,
}

fn main() {}
