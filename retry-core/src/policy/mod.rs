//! Policies: the decision whether an outcome is a success, a final failure, or worth a retry.
//!
//! ```
//! use retry_core::{ChainPolicy, PatientRetryStrategy, retryable};
//!
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! // An `anyhow::Error` does not implement `RetryInfo`, so a policy examines its chain of sources.
//! #[retryable(strategy = STORE, policy = ChainPolicy::new().idempotent(true))]
//! async fn read(path: &str) -> anyhow::Result<String> {
//!     Ok(std::fs::read_to_string(path)?)
//! }
//! ```

mod by_parts;
mod chain;
mod directive;
mod error_text;
mod no_answer;
mod standard;
mod usage;

pub(crate) use by_parts::by_parts;
pub use chain::{ChainPolicy, WholeFirst};
pub use directive::{RetryDirective, RetryErrorType, Success};
use error_text::text_of;
pub(crate) use error_text::text_of_borrowed;
#[doc(hidden)]
pub use no_answer::{NoAnswer, Unanswered};
pub use standard::StandardRetryPolicy;
pub(crate) use standard::of_timed_out;
pub use usage::Usage;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

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
    note = "a function becomes a policy through `policy_fn`",
    note = "if the outcome is a future, write `retry(..)` in place of `retry_blocking(..)`"
)]
pub trait RetryPolicy<R: ?Sized> {
    /// Returns the directive for this outcome.
    fn evaluate(&self, outcome: &R) -> RetryDirective;

    /// Returns the error in an outcome. The [warning](crate::EventKind::UnknownError) about an error of the class
    /// [`RetryErrorType::Unknown`] has the texts of this error and of its sources, and so has the `tracing` event of a call with a closure, or of a
    /// layer, that gave up. The default returns `None`: the warnings have no text.
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

    /// Returns what the outcome says about a limit on the sum of [weights](crate::strategy::Weighted), such as the tokens
    /// that were used. The default returns `None`: the attempt used its weight.
    fn usage(&self, outcome: &R) -> Option<Usage> {
        let _ = outcome;
        None
    }

    /// Returns whether the operation may be executed twice, if the policy knows it. There is a [hedge](crate#features) only if it may:
    /// `Some(true)`. The default returns `None`.
    fn is_idempotent(&self) -> Option<bool> {
        None
    }

    /// Returns whether a directive may say that an attempt [made progress](RetryDirective::progressed). If not, it is not examined, which
    /// saves instructions.
    #[doc(hidden)]
    #[inline]
    fn __may_progress(&self) -> bool {
        true
    }

    /// Returns the same outcome. A policy that knows the parts of outcomes moves them instead of the whole, which saves instructions.
    #[doc(hidden)]
    #[inline]
    fn __moved(&self, outcome: R) -> R
    where
        R: Sized,
    {
        outcome
    }

    /// Returns the texts of the error in an outcome and of its sources.
    #[doc(hidden)]
    fn __text(&self, outcome: &R) -> Option<String> {
        self.unknown_error(outcome).map(text_of)
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

            #[inline]
            fn __moved(&self, outcome: R) -> R
            where
                R: Sized,
            {
                (**self).__moved(outcome)
            }

            fn __text(&self, outcome: &R) -> Option<String> {
                (**self).__text(outcome)
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
/// use retry_core::{PatientRetryStrategy, RetryDirective, RetryErrorType, policy_fn, retry};
///
/// # async fn result_of_job() -> Option<u32> { Some(1) }
/// # static JOBS: PatientRetryStrategy = PatientRetryStrategy::new();
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
    PolicyFn { evaluate, idempotent: None }
}

/// The policy that [`policy_fn`] returns.
#[derive(Clone, Copy)]
pub struct PolicyFn<F> {
    evaluate: F,
    idempotent: Option<bool>,
}

impl<F> PolicyFn<F> {
    /// Sets whether the operation is idempotent, which means that it may be executed twice. The closure still decides alone about
    /// outcomes. There is a [hedge](crate#features) only with `true`.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.idempotent = Some(idempotent);
        self
    }
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

    fn is_idempotent(&self) -> Option<bool> {
        self.idempotent
    }
}
