use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(throttling, fault = "client", throttling)]
    A,
    #[retry(fault = "client")]
    #[retry(fault = "server")]
    B,
}

fn main() {}
