use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(fault = "serverr")]
    A,
    #[retry(fault = "nobody")]
    B,
}

fn main() {}
