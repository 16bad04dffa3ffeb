use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    RateLimit(#[retry(rate_limit)] u32),
    Terminal(#[retry(terminal)] u32),
    Retry(#[retry(retry)] u32),
    Negated(#[retry(retryable = false)] u32),
    Resembling(#[retry(throtled)] u32),
    #[retry(cause)]
    Cause(std::io::Error),
}

#[derive(RetryInfo)]
#[retry(inherit)]
enum Wrapper {
    Failure(Failure),
}

fn main() {}
