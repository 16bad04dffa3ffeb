use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry("throttling")]
    A,
}

fn main() {}
