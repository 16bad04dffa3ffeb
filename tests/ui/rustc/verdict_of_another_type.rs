use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Failure {
    #[retry(safe)]
    retries_left: u32,
}

fn main() {}
