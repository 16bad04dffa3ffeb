use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    A(#[retry(http_status)] u16, #[retry(http_status)] u16),
    B(#[retry(error_code)] String, #[retry(error_code)] String),
    C(#[retry(safe)] bool, #[retry(safe)] bool),
    D(#[retry(source)] Inner, #[retry(source)] Inner),
}

fn main() {}
