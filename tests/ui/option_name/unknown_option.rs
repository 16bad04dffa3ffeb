use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(frequently)]
    A,
}

fn main() {}
