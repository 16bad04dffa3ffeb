use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(transparent)]
enum Failure {
    #[retry(crate = ::retry_core)]
    A,
    B(#[retry(throttling)] u32),
}

fn main() {}
