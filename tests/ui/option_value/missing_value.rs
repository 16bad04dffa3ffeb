use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(fault = )]
    A,
}

fn main() {}
