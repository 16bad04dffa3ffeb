use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
#[retry(exhaustive = true)]
enum Failure {
    #[retry(throttling = true)]
    A,
    #[retry(timeout(30))]
    B,
    #[retry(never = "ever")]
    C,
    #[retry(transparent = "0")]
    D(Inner),
    E(#[retry(error_code = "SlowDown")] String, #[retry(source = "0")] Inner),
}

fn main() {}
