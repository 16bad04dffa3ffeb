use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(with = "judge")]
    A(u8),
    #[retry(with = |number| *number > 0)]
    B(u8),
    C(#[retry(with)] u8),
    D(#[retry(with(judge))] u8),
}

fn main() {}
