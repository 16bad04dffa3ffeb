//! Policies: the decision whether an outcome is a success, a final failure, or worth a retry.
//!
//! ```
//! use retry_core::{ChainPolicy, StandardRetryStrategy, retryable};
//!
//! static STORE: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! // An `anyhow::Error` does not implement `RetryInfo`, so a policy examines its chain of sources.
//! #[retryable(strategy = STORE, policy = ChainPolicy::new().idempotent(true))]
//! async fn read(path: &str) -> anyhow::Result<String> {
//!     Ok(std::fs::read_to_string(path)?)
//! }
//! ```

mod chain;
mod no_answer;
mod unknown;
mod usage;

pub use chain::{ChainPolicy, WholeFirst};

pub use crate::classify::http::RateLimit;
#[doc(hidden)]
pub use no_answer::{NoAnswer, Unanswered};
pub(crate) use unknown::text_of;
pub use usage::Usage;

use crate::error::{ErrorFault, RetryInfo, RetrySafety};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
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
    /// [`ChainPolicy`] gives this class to an error without a known link. Your policy can do the same, by
    /// `RetryDirective::fail(Some(RetryErrorType::Unknown))`. An error that implements [`RetryInfo`] never has it. If a
    /// policy retries such a failure, the retry has the cost and the delay of [`Other`](RetryErrorType::Other).
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

/// The decision of a [`RetryPolicy`] about an outcome.
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
    },
}

impl RetryDirective {
    /// Creates the directive for a success.
    pub const fn succeed() -> Self {
        Self::Succeed { success: Success { rate_limit: None } }
    }

    /// Creates the directive for a failure that is worth a retry.
    pub const fn retry(error_type: RetryErrorType) -> Self {
        Self::Retry { error_type, retry_after: None }
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

    /// Returns the directive for the same failure if it can't be retried. For others this is a no-op.
    pub(crate) const fn without_retry(self) -> Self {
        match self {
            Self::Retry { error_type, retry_after } => Self::Fail { error_type: Some(error_type), retry_after },
            Self::Fail { .. } | Self::Succeed { .. } => self,
        }
    }

    /// Sets the shortest wait that the server asked for. For a success this is a no-op.
    #[must_use]
    pub const fn after(self, hint: Option<Duration>) -> Self {
        match self {
            Self::Retry { error_type, .. } => Self::Retry { error_type, retry_after: hint },
            Self::Fail { error_type, .. } => Self::Fail { error_type, retry_after: hint },
            Self::Succeed { .. } => self,
        }
    }

    /// Sets the server's report about its rate limit. For a failure this is a no-op.
    ///
    /// ```
    /// use retry_core::classify::http::{RateLimit, rate_limit};
    /// use retry_core::{RetryDirective, RetryInfo, StandardRetryPolicy, policy_fn};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// struct Response {
    ///     rate_limit: String,
    /// }
    ///
    /// let policy = policy_fn(|outcome: &Result<Response, Failed>| match outcome {
    ///     Ok(response) => RetryDirective::succeed().with_rate_limit(rate_limit(&response.rate_limit)),
    ///     Err(error) => StandardRetryPolicy::new().evaluate_error(error),
    /// });
    /// # use retry_core::RetryPolicy;
    /// # let response = Response { rate_limit: r#""default";r=9"#.to_owned() };
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

/// Decides whether the outcome of an attempt is a success, a final failure, or worth a retry.
///
/// A policy gets the whole outcome, `Ok` included. So a value that is not ready yet, for example, can cause a retry. To
/// make a policy from a closure, use [`policy_fn`].
///
/// To extend the standard policy, call [`StandardRetryPolicy::evaluate_error`] for the errors that your policy does not
/// handle itself.
///
/// ```
/// use retry_core::{RetryDirective, RetryErrorType, RetryInfo, RetryPolicy, StandardRetryPolicy};
///
/// #[derive(Debug, RetryInfo)]
/// #[retry(timeout)]
/// struct NoAnswer;
///
/// enum Job {
///     Running,
///     Done,
/// }
///
/// /// Polls until the job is done. Errors are classified by the standard policy.
/// struct UntilDone;
///
/// impl RetryPolicy<Result<Job, NoAnswer>> for UntilDone {
///     fn evaluate(&self, outcome: &Result<Job, NoAnswer>) -> RetryDirective {
///         match outcome {
///             Ok(Job::Done) => RetryDirective::succeed(),
///             Ok(Job::Running) => RetryDirective::retry(RetryErrorType::Other),
///             Err(error) => StandardRetryPolicy::new().evaluate_error(error),
///         }
///     }
/// }
/// # assert_eq!(UntilDone.evaluate(&Ok(Job::Done)), RetryDirective::succeed());
/// # let _ = (UntilDone.evaluate(&Ok(Job::Running)), UntilDone.evaluate(&Err(NoAnswer)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a policy for outcomes of the type `{R}`",
    label = "this does not implement `RetryPolicy<{R}>`",
    note = "a function becomes a policy through `policy_fn`"
)]
pub trait RetryPolicy<R: ?Sized> {
    /// Returns the directive for this outcome.
    fn evaluate(&self, outcome: &R) -> RetryDirective;

    /// Returns the error in an outcome to which [`evaluate`](RetryPolicy::evaluate) gave the class
    /// [`RetryErrorType::Unknown`]. The [warning](crate::EventKind::UnknownError) about it has the texts of this error and
    /// of its sources. The default returns `None`: the warning has no text.
    ///
    /// The method is called only if there will be a warning.
    ///
    /// ```
    /// use retry_core::{ChainPolicy, RetryDirective, RetryErrorType, RetryPolicy};
    /// use std::error::Error;
    /// use std::io;
    ///
    /// /// A policy that retries while the answer is empty, and leaves errors to a `ChainPolicy`.
    /// struct UntilComplete(ChainPolicy);
    ///
    /// impl RetryPolicy<Result<Vec<u8>, anyhow::Error>> for UntilComplete {
    ///     fn evaluate(&self, outcome: &Result<Vec<u8>, anyhow::Error>) -> RetryDirective {
    ///         match outcome {
    ///             Ok(answer) if answer.is_empty() => RetryDirective::retry(RetryErrorType::Other),
    ///             outcome => self.0.evaluate(outcome),
    ///         }
    ///     }
    ///
    ///     fn unknown_error<'o>(
    ///         &self,
    ///         outcome: &'o Result<Vec<u8>, anyhow::Error>,
    ///     ) -> Option<&'o (dyn Error + 'static)> {
    ///         self.0.unknown_error(outcome)
    ///     }
    /// }
    /// ```
    fn unknown_error<'o>(&self, outcome: &'o R) -> Option<&'o (dyn Error + 'static)> {
        let _ = outcome;
        None
    }

    /// Returns what the outcome says about a limit on the sum of [weights](crate::limit::PacedLimiter#weights), such as the tokens
    /// that were used. The default returns `None`: the attempt used its weight.
    fn usage(&self, outcome: &R) -> Option<Usage> {
        let _ = outcome;
        None
    }

    /// Returns whether the operation may be executed twice, if the policy knows it. If it may not, there is no
    /// [hedge](crate::Hedge). The default returns `None`.
    fn is_idempotent(&self) -> Option<bool> {
        None
    }

    /// Evaluates a failure that an exploration makes. The default can't.
    #[doc(hidden)]
    fn __no_answer(&self, failure: NoAnswer) -> Unanswered<R>
    where
        R: Sized,
    {
        let _ = failure;
        Unanswered::unknown()
    }
}

/// Pointers to policies forward to them.
macro_rules! forward_policy {
    ($($pointer:ty),+) => {$(
        impl<R: ?Sized, P: RetryPolicy<R> + ?Sized> RetryPolicy<R> for $pointer {
            fn evaluate(&self, outcome: &R) -> RetryDirective {
                (**self).evaluate(outcome)
            }

            fn unknown_error<'o>(&self, outcome: &'o R) -> Option<&'o (dyn Error + 'static)> {
                (**self).unknown_error(outcome)
            }

            fn usage(&self, outcome: &R) -> Option<Usage> {
                (**self).usage(outcome)
            }

            fn is_idempotent(&self) -> Option<bool> {
                (**self).is_idempotent()
            }

            fn __no_answer(&self, failure: NoAnswer) -> Unanswered<R>
            where
                R: Sized,
            {
                (**self).__no_answer(failure)
            }
        }
    )+};
}

forward_policy!(&P, Box<P>, Arc<P>);

/// Creates a policy from a closure.
///
/// ```
/// use retry_core::{RetryDirective, RetryErrorType, StandardRetryStrategy, policy_fn, retry};
///
/// # async fn result_of_job() -> Option<u32> { Some(1) }
/// # static JOBS: StandardRetryStrategy = StandardRetryStrategy::new();
/// # async fn example() {
/// // Polls until the job is done.
/// let until_done = policy_fn(|outcome: &Option<u32>| match outcome {
///     Some(_) => RetryDirective::succeed(),
///     None => RetryDirective::retry(RetryErrorType::Other),
/// });
/// let result = retry(&JOBS, || result_of_job()).policy(until_done).run().await;
/// # }
/// ```
pub const fn policy_fn<R: ?Sized, F>(evaluate: F) -> PolicyFn<F>
where
    F: Fn(&R) -> RetryDirective,
{
    PolicyFn { evaluate }
}

/// The policy that [`policy_fn`] returns.
#[derive(Clone, Copy)]
pub struct PolicyFn<F> {
    evaluate: F,
}

impl<F> fmt::Debug for PolicyFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PolicyFn").finish_non_exhaustive()
    }
}

impl<R: ?Sized, F: Fn(&R) -> RetryDirective> RetryPolicy<R> for PolicyFn<F> {
    fn evaluate(&self, outcome: &R) -> RetryDirective {
        (self.evaluate)(outcome)
    }
}

/// The default policy, for results whose error type implements [`RetryInfo`].
///
/// `Ok` is a success. An error with [`RetrySafety::Yes`] is worth a retry, and an error with [`RetrySafety::No`] is a
/// final failure. For [`RetrySafety::Maybe`] the decision depends on [`idempotent`](StandardRetryPolicy::idempotent).
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// use retry_core::{RetryDirective, RetryPolicy, StandardRetryPolicy};
///
/// # struct Crashed;
/// # impl ErrorInfo for Crashed {}
/// # impl RetryInfo for Crashed {}
/// // The error has an unknown fault, so the policy needs to know whether the operation is
/// // idempotent.
/// let outcome: Result<(), Crashed> = Err(Crashed);
/// let unknown = StandardRetryPolicy::new();
/// let idempotent = StandardRetryPolicy::new().idempotent(true);
/// assert!(matches!(unknown.evaluate(&outcome), RetryDirective::Fail { .. }));
/// assert!(matches!(idempotent.evaluate(&outcome), RetryDirective::Retry { .. }));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct StandardRetryPolicy {
    idempotent: Option<bool>,
}

impl StandardRetryPolicy {
    /// Creates a policy for an operation that may or may not be idempotent: [`RetrySafety::Maybe`] is retried if the
    /// server is at fault or the error is a timeout.
    pub const fn new() -> Self {
        Self { idempotent: None }
    }

    /// Sets whether the operation is idempotent, which means that it may be executed twice. With `true`, every
    /// [`RetrySafety::Maybe`] is retried; with `false`, none is.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// Returns what was set by [`idempotent`](Self::idempotent).
    pub(crate) const fn stated_idempotent(self) -> Option<bool> {
        self.idempotent
    }

    /// Returns the directive for an error. Use this in a policy that handles some outcomes itself and delegates the
    /// others to the standard policy:
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// /// A policy that also retries while the answer is empty.
    /// struct UntilComplete;
    ///
    /// impl RetryPolicy<Result<Vec<u8>, Failed>> for UntilComplete {
    ///     fn evaluate(&self, outcome: &Result<Vec<u8>, Failed>) -> RetryDirective {
    ///         match outcome {
    ///             Ok(answer) if answer.is_empty() => RetryDirective::retry(RetryErrorType::Other),
    ///             Ok(_) => RetryDirective::succeed(),
    ///             Err(error) => StandardRetryPolicy::new().evaluate_error(error),
    ///         }
    ///     }
    /// }
    /// ```
    #[cold]
    pub fn evaluate_error<E: RetryInfo + ?Sized>(&self, error: &E) -> RetryDirective {
        let error_type = RetryErrorType::of(error);
        let retry = match error.is_retry_safe() {
            RetrySafety::Yes => true,
            RetrySafety::No => false,
            RetrySafety::Maybe => {
                self.idempotent.unwrap_or_else(|| error.is_timeout() || error.fault() == ErrorFault::Server)
            }
        };
        let directive = if retry { RetryDirective::retry(error_type) } else { RetryDirective::fail(Some(error_type)) };
        directive.after(error.retry_after())
    }
}

impl<T, E: RetryInfo> RetryPolicy<Result<T, E>> for StandardRetryPolicy {
    #[inline]
    fn evaluate(&self, outcome: &Result<T, E>) -> RetryDirective {
        match outcome {
            Ok(_) => RetryDirective::succeed(),
            Err(error) => self.evaluate_error(error),
        }
    }

    fn is_idempotent(&self) -> Option<bool> {
        self.stated_idempotent()
    }

    /// A request that was not sent may be sent again, whatever the error says.
    fn __no_answer(&self, failure: NoAnswer) -> Unanswered<Result<T, E>> {
        let error = E::__no_answer();
        let directive = match &error {
            Some(error) if failure.was_sent => self.evaluate_error(error),
            _ => self.evaluate_error(&failure.classification()),
        };
        let is_retried = matches!(directive, RetryDirective::Retry { .. });
        Unanswered {
            directive: Some(directive),
            outcome: error.map(Err),
            is_repeated: is_retried && failure.was_sent && self.idempotent == Some(false),
        }
    }
}
