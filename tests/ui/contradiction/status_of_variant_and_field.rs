use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(http_status = 503)]
    A(#[retry(http_status)] Option<u16>),
}

fn main() {}
