use retry_core::RetryInfo;

#[derive(RetryInfo)]
enum Failure {
    #[retry(retryable)]
    Retryable,
    #[retry(transient)]
    Transient,
    #[retry(permanent)]
    Permanent,
    #[retry(rate_limited)]
    RateLimited,
    #[retry(throttled)]
    Throttled,
    #[retry(inherit)]
    Inherit(std::sync::Arc<Failure>),
    #[retry(forward)]
    Forward(std::sync::Arc<Failure>),
    #[retry(retry)]
    Retry,
    #[retry(conflicted)]
    Conflicted,
    #[retry(serialization)]
    Serialization,
    #[retry(aborted)]
    Aborted,
    #[retry(optimistic_lock)]
    OptimisticLock,
    #[retry(status = 429)]
    Status,
    #[retry(unsafe)]
    Unsafe,
    #[retry(not_retryable)]
    NotRetryable,
    #[retry(no_retry)]
    NoRetry,
    #[retry(terminal)]
    Terminal,
    #[retry(retryable = false)]
    NegatedRetryable,
    #[retry(permanent = false)]
    NegatedPermanent,
    #[retry(wait = "1s")]
    Wait,
    #[retry(after = "1s")]
    After,
    #[retry(delay = "1s")]
    Delay,
    Answered(#[retry(code)] String, #[retry(cause)] std::sync::Arc<Failure>),
}

fn main() {}
