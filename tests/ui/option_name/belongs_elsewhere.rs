use retry_core::RetryInfo;

#[derive(RetryInfo)]
#[retry(transparent, with = judge, error_code, source)]
enum Failure {
    #[retry(crate = ::retry_core, exhaustive, error_code = "SlowDown", source)]
    A,
    B(#[retry(throttling, timeout, never, fault = "client", crate = ::retry_core, exhaustive)] u32),
}

#[derive(RetryInfo)]
#[retry(exhaustive)]
struct Other;

fn main() {}
