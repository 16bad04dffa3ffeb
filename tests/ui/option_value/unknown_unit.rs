use retry_core::RetryInfo;

#[derive(RetryInfo)]
struct Failure(#[retry(retry_after(hours))] u64);

fn main() {}
