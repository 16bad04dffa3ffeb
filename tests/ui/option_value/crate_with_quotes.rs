use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(crate = "retry_core")]
struct Failure;

fn main() {}
