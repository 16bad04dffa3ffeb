use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    #[retry(transparent)]
    A(Inner, Inner),
}

fn main() {}
