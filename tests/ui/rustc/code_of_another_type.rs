use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Failure {
    #[retry(error_code)]
    code: Option<u32>,
}

fn main() {}
