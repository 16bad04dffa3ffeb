//! A wrong path of the library is one error.

mod error {
    #[derive(retry_core::RetryInfo)]
    #[retry(crate = misspelled, throttling)]
    pub struct Failed;
}

mod function {
    use retry_core::{RetryInfo, StandardRetryStrategy, retryable};

    #[derive(RetryInfo)]
    pub struct Failed;

    static STORE: StandardRetryStrategy = StandardRetryStrategy::new();

    #[retryable(strategy = STORE, crate = misspelled)]
    pub async fn does_not_exist() -> Result<(), Failed> {
        Ok(())
    }

    #[retryable(strategy = "patient", crate = ::misspelled, max_time = "1s", on_retry = |_, _| {}, timed_out = |_| Failed)]
    pub async fn has_a_strategy_of_its_own() -> Result<(), Failed> {
        Ok(())
    }

    #[retryable(strategy = STORE, crate = misspelled, idempotent, hedge = "p95")]
    pub async fn has_a_hedge() -> Result<(), Failed> {
        Ok(())
    }

    #[retryable(strategy = "standard", crate = tokio, name = "get", context = context)]
    pub async fn is_another_crate() -> Result<(), Failed> {
        Ok(())
    }

    #[retryable(strategy = STORE, crate = misspelled, blocking)]
    pub fn blocks() -> Result<(), Failed> {
        Ok(())
    }
}

fn main() {}
