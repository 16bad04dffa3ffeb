use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Failure(#[retry(retry_after)] String);

fn main() {}
