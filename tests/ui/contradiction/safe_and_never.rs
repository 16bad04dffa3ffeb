use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(safe, never)]
    A,
}

fn main() {}
