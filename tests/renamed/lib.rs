//! `crate = path`, where nothing is called `retry_core`.
//!
//! It is a crate of its own since a crate can't depend on another under two names.

/// What a crate that users depend on instead may look like.
pub mod facade {
    pub use ::retry as retries;
}

/// The dependency, by the name that it has here.
pub mod dependency {
    use ::retry::{RetryInfo, TimedOut, TokioTimer, retryable};

    /// An error.
    #[derive(Debug, RetryInfo)]
    #[retry(crate = ::retry)]
    pub enum Error {
        /// With a wait.
        #[retry(throttling, retry_after = "1ms")]
        Busy(#[retry(retry_after(millis))] u64),
        /// Another's answers.
        #[retry(transparent)]
        TimedOut(TimedOut),
    }

    impl From<TimedOut> for Error {
        fn from(error: TimedOut) -> Self {
            Self::TimedOut(error)
        }
    }

    /// Takes what is left, once it is not more than one.
    ///
    /// # Errors
    ///
    /// Until then.
    #[retryable(strategy = "standard", timer = TokioTimer, max_time = "9s", attempt_timeout = "9s", crate = ::retry)]
    pub async fn take(left: &mut u64, mut step: u64) -> Result<u64, Error> {
        step += 1;
        *left = left.saturating_sub(step);
        if *left > 1 { Err(Error::Busy(*left)) } else { Ok(*left) }
    }
}

/// The facade.
pub mod through_the_facade {
    use crate::facade::retries::{RetryInfo, StandardRetryPolicy, retryable};

    /// An error.
    #[derive(Debug, RetryInfo)]
    #[retry(safe, crate = crate::facade::retries)]
    pub struct Error;

    /// Counts to two.
    ///
    /// # Errors
    ///
    /// Until then.
    #[retryable(strategy = "adaptive", policy = StandardRetryPolicy::new(), crate = crate::facade::retries)]
    pub async fn count(calls: &mut u32) -> Result<u32, Error> {
        *calls += 1;
        if *calls < 2 { Err(Error) } else { Ok(*calls) }
    }
}
