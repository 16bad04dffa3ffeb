use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
enum Failure {
    A(#[retry(http_status)] u16, #[retry(http_status)] u16),
    B(#[retry(error_code)] String, #[retry(error_code)] String),
    C(#[retry(safe)] bool, #[retry(safe)] bool),
    D(#[retry(source)] Inner, #[retry(source)] Inner),
    #[retry(safe)]
    E(#[retry(retry_after(secs))] u8, #[retry(retry_after(secs))] u8),
    F(#[retry(transparent)] Inner, #[retry(transparent)] Inner),
}

fn main() {}
