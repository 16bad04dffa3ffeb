use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(transparent)]
    A,
}

fn main() {}
