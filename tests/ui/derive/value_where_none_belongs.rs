use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling = true)]
    A,
    #[retry(timeout(30))]
    B,
    #[retry(never = "ever")]
    C,
    #[retry(transparent = "0")]
    D(Inner),
}

fn main() {}
