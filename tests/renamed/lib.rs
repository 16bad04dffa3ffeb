//! The option `crate = path`, in a crate without a dependency called `retry_core`.
//!
//! This is a separate crate because a crate can't depend on another one under two names.

/// A facade crate that re-exports the library.
pub mod facade {
    pub use ::retry as retries;
}

/// The macros with the renamed dependency.
pub mod dependency {
    use ::retry::{RetryInfo, TimedOut, TokioTimer, retryable};

    /// An error.
    #[derive(Debug, RetryInfo)]
    #[retry(crate = ::retry)]
    pub enum Error {
        /// An error with a wait.
        #[retry(throttling, retry_after = "1ms")]
        Busy(#[retry(retry_after(millis))] u64),
        /// An error that forwards to its field.
        #[retry(transparent)]
        TimedOut(TimedOut),
    }

    impl From<TimedOut> for Error {
        fn from(error: TimedOut) -> Self {
            Self::TimedOut(error)
        }
    }

    /// Subtracts a step from `left` in each attempt, and succeeds once at most one is left.
    ///
    /// # Errors
    ///
    /// Returns an error until then.
    #[retryable(strategy = "standard", timer = TokioTimer, max_time = "9s", attempt_timeout = "9s", crate = ::retry)]
    pub async fn take(left: &mut u64, mut step: u64) -> Result<u64, Error> {
        step += 1;
        *left = left.saturating_sub(step);
        if *left > 1 { Err(Error::Busy(*left)) } else { Ok(*left) }
    }
}

/// The macros with the facade.
pub mod through_the_facade {
    use crate::facade::retries::{RetryInfo, StandardRetryPolicy, retryable};

    /// An error.
    #[derive(Debug, RetryInfo)]
    #[retry(safe, crate = crate::facade::retries)]
    pub struct Error;

    /// Counts its calls, and succeeds with the second one.
    ///
    /// # Errors
    ///
    /// Returns an error until then.
    #[retryable(strategy = "adaptive", policy = StandardRetryPolicy::new(), crate = crate::facade::retries)]
    pub async fn count(calls: &mut u32) -> Result<u32, Error> {
        *calls += 1;
        if *calls < 2 { Err(Error) } else { Ok(*calls) }
    }
}
