use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(http_status = "500")]
enum Failure {
    #[retry(http_status)]
    A,
    #[retry(http_status = TOO_MANY)]
    B,
}

const TOO_MANY: u16 = 429;

fn main() {}
