//! The default policy.

use super::{NoAnswer, RetryDirective, RetryErrorType, RetryPolicy, Unanswered, by_parts, text_of_borrowed};
use crate::error::{ErrorFault, RetryInfo, RetrySafety};
use crate::time::{TimeLimit, TimedOut};
use std::time::Duration;

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

    #[inline]
    fn __may_progress(&self) -> bool {
        false
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn __moved(&self, outcome: Result<T, E>) -> Result<T, E> {
        by_parts(outcome)
    }

    fn __text(&self, outcome: &Result<T, E>) -> Option<String> {
        outcome.as_ref().err().and_then(E::as_error).map(text_of_borrowed)
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

/// Returns the directive for a [`TimedOut`] of an operation that is idempotent or not, or of which that is not known.
#[cold]
pub(crate) fn of_timed_out(idempotent: Option<bool>) -> RetryDirective {
    let policy = match idempotent {
        Some(idempotent) => StandardRetryPolicy::new().idempotent(idempotent),
        None => StandardRetryPolicy::new(),
    };
    policy.evaluate_error(&TimedOut::new(TimeLimit::Attempt, Duration::ZERO))
}
