//! The interface of the time limits of an operation and its attempts.

mod limited;
mod unlimited;

pub use limited::{Limited, StopHandle};
pub use unlimited::{NoSleep, Unlimited};

use super::Stop;
use super::timed_attempt::RunAttempt;
use crate::strategy::{RetryError, RetryToken};
use crate::support::KeptOutcome;
use crate::time::{Clock, TimedOut, Timer, Timestamp};
use std::fmt::Debug;
use std::ops::ControlFlow;
use std::time::Duration;

/// An outcome type that can represent an attempt without an outcome in time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't represent a `TimedOut`",
    label = "with a time limit or `stop`, an outcome is a `Result` whose error implements `From<TimedOut>`",
    note = "for your own error type, write `impl From<TimedOut> for` it; as a variant, write `#[retry(transparent)] TimedOut(TimedOut)`",
    note = "a foreign error type can't be given this impl: return your own error that wraps it, or for a client the `ClientError` of its module in retry-clients, such as `redis1::ClientError`; `anyhow::Error`, `Box<dyn Error>` and `io::Error` have it",
    note = "a blocking function needs it, too: the time can be over, or the operation be stopped, before its first attempt"
)]
pub trait OutOfTime {
    /// Creates the outcome of an attempt that was cut.
    fn out_of_time(timed_out: TimedOut) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<TimedOut>> OutOfTime for Result<T, E> {
    fn out_of_time(timed_out: TimedOut) -> Self {
        Err(timed_out.into())
    }
}

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// The time limits of an operation, and their state. This trait is sealed.
///
/// ```
/// use retry_core::retry::{Attempts, TimeLimits, Unobserved};
/// use retry_core::time::DefaultTimer;
/// use retry_core::{PatientRetryStrategy, Retry, StandardRetryPolicy};
/// use std::time::Duration;
///
/// type Call<F, L> =
///     Retry<&'static PatientRetryStrategy, F, StandardRetryPolicy, DefaultTimer, Unobserved, L>;
///
/// /// Adds a limit to a call that may have others.
/// fn limited<F: Attempts, L: TimeLimits>(call: Call<F, L>) -> Call<F, L::Limited> {
///     call.max_time(Duration::from_secs(30))
/// }
/// ```
pub trait TimeLimits: Copy + RunAttempt<CutBy = Self::Cut> + sealed::Sealed {
    /// The limit that cuts or prevents an attempt.
    #[doc(hidden)]
    type Cut: Copy + Debug + Unpin;

    /// Starts the limits when the operation begins.
    #[doc(hidden)]
    fn start(&mut self, clock: &impl Clock);

    /// Returns the time that the operation has left; `None` means no limit.
    #[doc(hidden)]
    fn remaining(&mut self, clock: &impl Clock) -> Option<Duration>;

    /// Returns the limit that will be over after this wait, if any.
    #[doc(hidden)]
    fn is_over(&mut self, wait: Duration, clock: &impl Clock) -> Option<Self::Cut>;

    /// Shortens a wait to the time that is left.
    ///
    /// # Errors
    ///
    /// Returns the limit if no time is left.
    #[doc(hidden)]
    fn shorten(&mut self, wait: Duration, clock: &impl Clock) -> Result<Duration, Self::Cut>;

    /// Subtracts a wait that a test guard skips from the time that is left.
    #[doc(hidden)]
    fn skip(&mut self, wait: Duration);

    /// Returns the time limit of the next attempt and the cut at its end, if there is one. The time counts from the
    /// last call of `remaining`.
    #[doc(hidden)]
    fn next_cut(&self) -> Option<(Duration, Self::Cut)>;

    /// Returns the time limit of each attempt, if there is one.
    #[doc(hidden)]
    #[inline]
    fn attempt_timeout(&self) -> Option<Duration> {
        None
    }

    /// The sleep until an attempt is cut. It has no values if there are no limits.
    #[doc(hidden)]
    type Sleep<Z: Future<Output = ()>>: Future<Output = ()>;

    /// Returns the sleep until this limit cuts an attempt, or `None` if it does not cut running attempts.
    #[doc(hidden)]
    fn sleep<T: Timer>(timer: &T, time: Duration, cut: Self::Cut) -> Option<Self::Sleep<T::Sleep>>;

    /// Returns the handle that can stop the operation, if there is one.
    #[doc(hidden)]
    #[inline]
    fn stop(&self) -> Option<&Stop> {
        None
    }

    /// Returns the reason of an operation whose next attempt was cut or prevented.
    #[doc(hidden)]
    #[inline]
    fn reason(&self) -> RetryError {
        RetryError::MaxTime
    }

    /// The type of these limits with another one: [`Limited`].
    type Limited: TimeLimits;

    /// Sets the limit on each attempt.
    #[doc(hidden)]
    fn with_attempt_timeout(self, time: Duration) -> Self::Limited;

    /// Sets the limit on the whole operation.
    #[doc(hidden)]
    fn with_max_time(self, time: Duration) -> Self::Limited;

    /// Sets the deadline of the whole operation.
    #[doc(hidden)]
    fn with_deadline(self, deadline: Timestamp) -> Self::Limited;

    /// Sets the handle that can stop the operation.
    #[doc(hidden)]
    fn with_stop(self, stop: &Stop) -> Limited<&Stop>;
}

/// Time limits of an operation with outcomes of type `R`. This trait is sealed.
///
/// ```
/// use retry_core::retry::{AsyncAttempts, LimitsOn, Unobserved};
/// use retry_core::time::DefaultTimer;
/// use retry_core::{PatientRetryStrategy, Retry, RetryInfo, StandardRetryPolicy};
///
/// type Call<F, L> =
///     Retry<&'static PatientRetryStrategy, F, StandardRetryPolicy, DefaultTimer, Unobserved, L>;
///
/// /// Runs a call with any time limits, or none.
/// async fn run<F, L, T, E>(call: Call<F, L>) -> Result<T, E>
/// where
///     F: AsyncAttempts<Outcome = Result<T, E>>,
///     L: LimitsOn<Result<T, E>>,
///     E: RetryInfo,
/// {
///     call.run().await
/// }
/// ```
pub trait LimitsOn<R>: TimeLimits {
    /// Returns the place for the last outcome, for an operation with tokens of this type.
    #[doc(hidden)]
    fn kept_outcome<K: RetryToken>() -> impl KeptOutcome<R>;

    /// Returns [`ControlFlow::Continue`] with the outcome of an attempt that was cut, or [`ControlFlow::Break`] with
    /// the outcome of the operation, for which `last` takes the last outcome.
    #[doc(hidden)]
    fn cut(cut: Self::Cut, last: impl FnOnce() -> Option<R>) -> ControlFlow<R, R>;
}
