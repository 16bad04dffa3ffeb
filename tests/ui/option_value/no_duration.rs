use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(retry_after = "1500")]
    A,
    #[retry(retry_after = "-1s")]
    B,
    #[retry(retry_after = "1 fortnight")]
    C,
}

fn main() {}
