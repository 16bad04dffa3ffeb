use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    #[retry(transparent, fault = "client", throttling)]
    A(Inner),
    #[retry(transparent)]
    B {
        source: Inner,
        #[retry(retry_after)]
        wait: std::time::Duration,
    },
}

fn main() {}
