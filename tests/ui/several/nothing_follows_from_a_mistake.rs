//! Each mistake is reported once. Imports and arguments are used, the context exists, and no type of a closure is missing.

mod parts {
    pub static STORE: retry_core::StandardRetryStrategy = retry_core::StandardRetryStrategy::new();

    pub const fn worth_a_retry(_: &u32) -> bool {
        true
    }
}

mod error {
    use crate::parts::worth_a_retry;
    use retry_core::classify::chain;
    use retry_core::{RetryInfo, TimedOut};

    #[derive(Debug, RetryInfo)]
    pub enum Failed {
        #[retry(safe, never)]
        First,
        #[retry(with = worth_a_retry)]
        Second(u32),
        #[retry(with = chain::known)]
        Third(std::io::Error),
        #[retry(with = Self::is_fourth)]
        Fourth(u32),
        #[retry(transparent)]
        TimedOut(TimedOut),
    }

    impl Failed {
        fn is_fourth(number: &u32) -> bool {
            *number == 4
        }
    }
}

mod function {
    use crate::error::Failed;
    use crate::parts::STORE;
    use retry_core::{Stop, retryable};
    use std::time::Duration;

    #[retryable(
        strategy = STORE,
        retries = 3,
        context = context,
        stop = stop,
        attempt_timeout = Duration::from_secs(3),
        on_retry = |error, event| println!("{error:?} after attempt {}", event.attempt),
        on_end = move |report| println!("{key}: {} attempts", report.attempts)
    )]
    pub async fn get(key: String, stop: &Stop) -> Result<u32, Failed> {
        if context.attempt() > 1 {
            return Err(Failed::First);
        }
        Ok(context.attempt())
    }

    #[retryable(strategy = STORE, contxt = attempt)]
    pub async fn put() -> Result<u32, Failed> {
        Ok(attempt.attempt())
    }

    #[retryable(strategy = STORE, context)]
    pub async fn list() -> Result<u32, Failed> {
        Ok(context.attempt())
    }
}

fn main() {
    let _ = (error::Failed::Second(2), error::Failed::Fourth(4));
    drop(function::get(String::new(), &retry_core::Stop::new()));
}
