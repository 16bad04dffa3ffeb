use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(safe)]
struct Failure(#[retry(retry_after)] String);

fn main() {}
