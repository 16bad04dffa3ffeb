use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(throtling)]
    A,
    #[retry(retryafter = "1s")]
    B,
}

fn main() {}
