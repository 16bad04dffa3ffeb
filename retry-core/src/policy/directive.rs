//! What a policy says about an outcome.

use crate::classify::http::RateLimit;
use crate::error::{ErrorFault, RetryInfo};
use std::fmt;
use std::time::Duration;

/// The class of a failure. The cost and the delay of a retry depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryErrorType {
    /// The server rejected the request because of too many recent requests. An error that is also a
    /// [`Timeout`](RetryErrorType::Timeout) or a [`Conflict`](RetryErrorType::Conflict) belongs to this class.
    Throttling,
    /// No response came in time. An error that is also a [`Conflict`](RetryErrorType::Conflict) belongs to this class.
    Timeout,
    /// The request lost a race against another one. The server did not act on it, and is healthy.
    Conflict,
    /// Any other failure that is the server's fault.
    ServerSide,
    /// Any other failure that is the client's fault.
    ClientSide,
    /// Any other failure, with another or unknown fault.
    Other,
    /// The error is not classified, so it is not retried. The first one of each function causes a
    /// [warning](crate::EventKind::UnknownError).
    ///
    /// [`ChainPolicy`](super::ChainPolicy) gives this class to an error without a known link, and the standard policy gives it to an error
    /// that [says so itself](RetryInfo::is_unknown). Your policy can do the same, by
    /// `RetryDirective::fail(Some(RetryErrorType::Unknown))`. If a policy retries such a failure, the retry has the cost and the
    /// delay of [`Other`](RetryErrorType::Other).
    Unknown,
}

impl RetryErrorType {
    /// Returns the class of an error.
    pub fn of<E: RetryInfo + ?Sized>(error: &E) -> Self {
        if error.is_throttle() {
            Self::Throttling
        } else if error.is_timeout() {
            Self::Timeout
        } else if error.is_conflict() {
            Self::Conflict
        } else if error.is_unknown() {
            Self::Unknown
        } else {
            match error.fault() {
                ErrorFault::Server => Self::ServerSide,
                ErrorFault::Client => Self::ClientSide,
                ErrorFault::Other => Self::Other,
            }
        }
    }

    /// Returns the name of the class as used in events: `throttling`, `timeout`, `conflict`, `server_side`,
    /// `client_side`, `other` or `unknown`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Throttling => "throttling",
            Self::Timeout => "timeout",
            Self::Conflict => "conflict",
            Self::ServerSide => "server_side",
            Self::ClientSide => "client_side",
            Self::Other => "other",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for RetryErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The decision of a [`RetryPolicy`](super::RetryPolicy) about an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryDirective {
    /// The operation succeeded and ends. The strategy records the success. Created by [`RetryDirective::succeed`].
    #[non_exhaustive]
    Succeed {
        /// The information about the success for the strategy.
        success: Success,
    },
    /// The operation failed and ends without a retry. Created by [`RetryDirective::fail`].
    #[non_exhaustive]
    Fail {
        /// The class of the failure, if known. A limiter also learns from throttled attempts that are not retried.
        error_type: Option<RetryErrorType>,
        /// The shortest wait that the server asked for.
        retry_after: Option<Duration>,
    },
    /// The attempt failed, and a retry may succeed. Created by [`RetryDirective::retry`].
    #[non_exhaustive]
    Retry {
        /// The class of the failure.
        error_type: RetryErrorType,
        /// The shortest wait that the server asked for.
        retry_after: Option<Duration>,
        /// Whether a part of the work was done; see [`RetryDirective::progressed`].
        progressed: bool,
    },
}

impl RetryDirective {
    /// Creates the directive for a success.
    pub const fn succeed() -> Self {
        Self::Succeed { success: Success { rate_limit: None } }
    }

    /// Creates the directive for a failure that is worth a retry.
    pub const fn retry(error_type: RetryErrorType) -> Self {
        Self::Retry { error_type, retry_after: None, progressed: false }
    }

    /// Creates the directive for a final failure. `error_type` is the class of the failure, if known.
    pub const fn fail(error_type: Option<RetryErrorType>) -> Self {
        Self::Fail { error_type, retry_after: None }
    }

    /// Returns whether the error is not classified, and so not retried.
    #[inline]
    pub(crate) const fn is_unknown(&self) -> bool {
        matches!(self, Self::Fail { error_type: Some(RetryErrorType::Unknown), .. })
    }

    /// Returns whether the attempt did a part of the work.
    #[inline]
    pub(crate) const fn has_progressed(&self) -> bool {
        matches!(self, Self::Retry { progressed: true, .. })
    }

    /// Sets the shortest wait that the server asked for. For a success this is a no-op.
    #[must_use]
    pub const fn after(self, hint: Option<Duration>) -> Self {
        match self {
            Self::Retry { error_type, progressed, .. } => Self::Retry { error_type, retry_after: hint, progressed },
            Self::Fail { error_type, .. } => Self::Fail { error_type, retry_after: hint },
            Self::Succeed { .. } => self,
        }
    }

    /// Sets whether the attempt did a part of the work, such as some entries of a batch, so that a retry is for the rest. For other
    /// directives this is a no-op.
    ///
    /// The strategy then [records the progress](crate::RetryStrategy::record_progress), pays back what this attempt cost, and decides
    /// as after a first attempt. So a batch may take any number of attempts, as long as they make progress. Attempts are
    /// counted from 1 again. The time limits go on.
    ///
    /// ```
    /// use retry_core::{PatientRetryStrategy, RetryDirective, RetryInfo, StandardRetryPolicy};
    /// use retry_core::{RetryPolicy, policy_fn, retryable};
    ///
    /// #[derive(Debug, RetryInfo)]
    /// enum PutError {
    ///     /// Some entries were refused.
    ///     #[retry(throttling)]
    ///     Rest { accepted: usize },
    ///     #[retry(timeout)]
    ///     Timeout,
    /// }
    ///
    /// fn policy(outcome: &Result<(), PutError>) -> RetryDirective {
    ///     let progressed = matches!(outcome, Err(PutError::Rest { accepted: 1.. }));
    ///     StandardRetryPolicy::new().evaluate(outcome).progressed(progressed)
    /// }
    ///
    /// static TABLE: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// /// Sends the entries, and leaves those that were not accepted.
    /// #[retryable(strategy = TABLE, policy = policy_fn(policy))]
    /// async fn put(entries: &mut Vec<u32>) -> Result<(), PutError> {
    ///     let before = entries.len();
    ///     // The answer names the entries that were refused.
    ///     entries.retain(|entry| entry % 3 == 0 && before > 3);
    ///     match before - entries.len() {
    ///         _ if entries.is_empty() => Ok(()),
    ///         accepted => Err(PutError::Rest { accepted }),
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// # #[cfg(feature = "test")]
    /// # let _test = retry_core::test::begin();
    /// let mut entries = (1..=9).collect();
    /// assert!(put(&mut entries).await.is_ok() && entries.is_empty());
    /// # });
    /// ```
    #[must_use]
    pub const fn progressed(self, progressed: bool) -> Self {
        match self {
            Self::Retry { error_type, retry_after, .. } => Self::Retry { error_type, retry_after, progressed },
            Self::Succeed { .. } | Self::Fail { .. } => self,
        }
    }

    /// Sets the server's report about its rate limit. For a failure this is a no-op. In the crate `retry-clients`,
    /// `http::response_rate_limit` reads the headers that have it.
    ///
    /// ```
    /// use retry_core::classify::http::RateLimit;
    /// use retry_core::{RetryDirective, RetryInfo, StandardRetryPolicy, policy_fn};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// struct Response {
    ///     remaining: Option<u64>,
    /// }
    ///
    /// let policy = policy_fn(|outcome: &Result<Response, Failed>| match outcome {
    ///     Ok(response) => {
    ///         let limit = response.remaining.map(RateLimit::new);
    ///         RetryDirective::succeed().with_rate_limit(limit)
    ///     }
    ///     Err(error) => StandardRetryPolicy::new().evaluate_error(error),
    /// });
    /// # use retry_core::RetryPolicy;
    /// # let response = Response { remaining: Some(9) };
    /// # let expected = RetryDirective::succeed().with_rate_limit(Some(RateLimit::new(9)));
    /// # assert_eq!(policy.evaluate(&Ok(response)), expected);
    /// ```
    #[must_use]
    pub const fn with_rate_limit(self, rate_limit: Option<RateLimit>) -> Self {
        match self {
            Self::Succeed { success } => Self::Succeed { success: success.with_rate_limit(rate_limit) },
            Self::Retry { .. } | Self::Fail { .. } => self,
        }
    }
}

/// The information that a policy gives a strategy about a success.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Success {
    rate_limit: Option<RateLimit>,
}

impl Success {
    /// Sets the server's report about its rate limit.
    #[must_use]
    pub const fn with_rate_limit(mut self, rate_limit: Option<RateLimit>) -> Self {
        self.rate_limit = rate_limit;
        self
    }

    /// Returns the server's report about its rate limit, if there is one.
    pub const fn rate_limit(&self) -> Option<RateLimit> {
        self.rate_limit
    }
}
