use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Inner;

#[derive(RetryInfo)]
struct Failure(#[retry(transparent)] Inner, #[retry(transparent)] Inner);

fn main() {}
