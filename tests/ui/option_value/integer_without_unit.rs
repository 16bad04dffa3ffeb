use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    A(#[retry(retry_after)] u64),
    B { #[retry(retry_after)] wait: Option<u32> },
}

fn main() {}
