//! What an outcome means: done, failed for good, or worth another attempt.

use crate::error::{ErrorFault, RetryInfo, RetrySafety};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The class of a failure, on which the cost and the delay of a retry depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RetryErrorType {
    /// Too many requests of late. It wins over [`Timeout`](RetryErrorType::Timeout) where an error is both.
    Throttling,
    /// No answer in time. It wins over [`Conflict`](RetryErrorType::Conflict) where an error is both.
    Timeout,
    /// A race that was lost against another request: nothing was done, and the server is well.
    Conflict,
    /// Another failure that is the server's fault.
    ServerSide,
    /// Another failure that is the client's fault.
    ClientSide,
    /// Another failure, of unknown fault.
    Other,
}

impl RetryErrorType {
    /// The class that an error belongs to.
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

    /// The name as it appears in events: `throttling`, `timeout`, `conflict`, `server_side`, `client_side`, `other`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Throttling => "throttling",
            Self::Timeout => "timeout",
            Self::Conflict => "conflict",
            Self::ServerSide => "server_side",
            Self::ClientSide => "client_side",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for RetryErrorType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a [`RetryPolicy`] makes of an outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryDirective {
    /// The operation succeeded: it ends, and the strategy learns of a success. Make one with
    /// [`RetryDirective::succeed`].
    #[non_exhaustive]
    Succeed {
        /// What the strategy is told of the success.
        success: Success,
    },
    /// The operation failed for good: it ends. Make one with [`RetryDirective::fail`].
    #[non_exhaustive]
    Fail {
        /// The class of the failure, if it is known. A limiter learns from a throttled attempt that isn't retried, too.
        error_type: Option<RetryErrorType>,
        /// The shortest wait that the server asked for.
        retry_after: Option<Duration>,
    },
    /// The attempt failed and another one may help. Make one with [`RetryDirective::retry`].
    #[non_exhaustive]
    Retry {
        /// The class of the failure.
        error_type: RetryErrorType,
        /// The shortest wait that the server asked for.
        retry_after: Option<Duration>,
    },
}

impl RetryDirective {
    /// The operation succeeded.
    pub const fn succeed() -> Self {
        Self::Succeed { success: Success {} }
    }

    /// The attempt failed, and another one may help.
    pub const fn retry(error_type: RetryErrorType) -> Self {
        Self::Retry { error_type, retry_after: None }
    }

    /// The operation failed for good.
    pub const fn fail(error_type: Option<RetryErrorType>) -> Self {
        Self::Fail { error_type, retry_after: None }
    }

    /// Sets the shortest wait that the server asked for. A success has none.
    #[must_use]
    pub const fn after(self, hint: Option<Duration>) -> Self {
        match self {
            Self::Retry { error_type, .. } => Self::Retry { error_type, retry_after: hint },
            Self::Fail { error_type, .. } => Self::Fail { error_type, retry_after: hint },
            Self::Succeed { .. } => self,
        }
    }
}

/// What a policy tells a strategy of a success. It can grow: what a server says it has left, for instance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Success {}

/// Decides what the outcome of an attempt means.
///
/// It is handed the whole outcome, `Ok` included, so a value that isn't ready yet can be a reason for another attempt. A
/// closure becomes a policy through [`policy_fn`].
///
/// To extend the standard policy, ask it for what you don't know: see
/// [`evaluate_error`](StandardRetryPolicy::evaluate_error).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no policy for outcomes of the type `{R}`",
    label = "this does not implement `RetryPolicy<{R}>`",
    note = "a function becomes a policy through `policy_fn`"
)]
pub trait RetryPolicy<R: ?Sized> {
    /// What is to follow from this outcome.
    fn evaluate(&self, outcome: &R) -> RetryDirective;
}

macro_rules! forward_policy {
    ($($pointer:ty),+) => {$(
        impl<R: ?Sized, P: RetryPolicy<R> + ?Sized> RetryPolicy<R> for $pointer {
            fn evaluate(&self, outcome: &R) -> RetryDirective {
                (**self).evaluate(outcome)
            }
        }
    )+};
}

forward_policy!(&P, Box<P>, Arc<P>);

/// Makes a policy of a closure.
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

/// The policy that [`policy_fn`] makes.
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

/// The policy for results whose error implements [`RetryInfo`], used wherever no other is named.
///
/// `Ok` succeeds. An error is retried if it is [safe](RetrySafety::Yes) and fails for good if it is
/// [not](RetrySafety::No). What [`RetrySafety::Maybe`] leads to depends on the operation: see
/// [`idempotent`](StandardRetryPolicy::idempotent).
///
/// ```
/// # use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
/// use retry_core::{RetryDirective, RetryPolicy, StandardRetryPolicy};
///
/// # struct Crashed;
/// # impl ErrorInfo for Crashed {}
/// # impl RetryInfo for Crashed {}
/// // An error that is nobody's known fault: only the author of the operation can tell.
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
    /// A policy that knows nothing of the operation: [`RetrySafety::Maybe`] is retried where the server is at fault or
    /// a timeout struck.
    pub const fn new() -> Self {
        Self { idempotent: None }
    }

    /// Says whether the operation may be carried out twice: with `true` every [`RetrySafety::Maybe`] is retried, with
    /// `false` none.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }

    /// What follows from an error. For policies that judge some outcomes themselves and leave the rest to this one:
    ///
    /// ```
    /// # use retry_core::RetryInfo;
    /// use retry_core::{RetryDirective, RetryErrorType, RetryPolicy, StandardRetryPolicy};
    ///
    /// # #[derive(RetryInfo)]
    /// # struct Failed;
    /// /// An answer that is not complete yet is worth another attempt, too.
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
}
