//! The interface of the time limits of an operation and its attempts.

mod limited;
mod running;
mod stopped_by;
mod timed_out;
mod unlimited;

pub use limited::Limited;
pub use running::RunningLimits;
pub(crate) use stopped_by::beside;
pub use stopped_by::{CutOnStop, OwnStop, SleepOrStop, Step, StopHandle};
pub use timed_out::WithTimedOut;
pub use unlimited::{AtMost, NoSleep, Unlimited};

use super::Stop;
use crate::time::{TimedOut, Timestamp};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

/// An outcome type that can represent an attempt without an outcome in time.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't represent a `TimedOut`",
    label = "with a time limit or `stop`, an outcome is a `Result` whose error implements `From<TimedOut>`",
    note = "write `timed_out = |timed_out| ..`, for a closure `.timed_out(|timed_out| ..)`, which makes the error of this operation",
    note = "or for your own error type, write `impl From<TimedOut> for` it; as a variant, write `#[retry(transparent)] TimedOut(TimedOut)`",
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
pub trait TimeLimits: Clone + sealed::Sealed {
    /// The limits of an operation that runs.
    #[doc(hidden)]
    type Running: RunningLimits;

    /// Returns the limits of an operation that begins.
    #[doc(hidden)]
    fn running(&self) -> Self::Running;

    /// The type of these limits with another one: [`Limited`], with the closure of [`timed_out`](crate::Retry::timed_out) if there is one.
    type Limited: TimeLimits;

    /// The type of these limits with a [`Stop`]: [`Limited<&Stop>`](Limited), with the closure of
    /// [`timed_out`](crate::Retry::timed_out) if there is one.
    type Stoppable<'s>: TimeLimits;

    /// Sets the limit on each attempt; `None` means no limit.
    #[doc(hidden)]
    fn with_attempt_timeout(self, time: Option<Duration>) -> Self::Limited;

    /// Sets the limit on the whole operation; `None` means no limit.
    #[doc(hidden)]
    fn with_max_time(self, time: Option<Duration>) -> Self::Limited;

    /// Sets the deadline of the whole operation; `None` means no deadline.
    #[doc(hidden)]
    fn with_deadline(self, deadline: Option<Timestamp>) -> Self::Limited;

    /// The type of these limits with [`max_attempts`](crate::Retry::max_attempts): [`Limited`] if it is that already, otherwise
    /// [`AtMost`], with the closure of [`timed_out`](crate::Retry::timed_out) if there is one.
    type AtMost: TimeLimits;

    /// Sets the number of attempts; `None` means that of the strategy.
    #[doc(hidden)]
    fn with_max_attempts(self, attempts: Option<NonZeroU32>) -> Self::AtMost;

    /// Removes the number of attempts.
    #[doc(hidden)]
    #[must_use]
    fn without_max_attempts(self) -> Self;

    /// Sets the handle that can stop the operation.
    #[doc(hidden)]
    fn with_stop(self, stop: &Stop) -> Self::Stoppable<'_>;

    /// The type of these limits with the operation's own handle, beside one that was set.
    #[doc(hidden)]
    type StoppedByOwn: TimeLimits;

    /// Adds the operation's own handle, beside one that was set. Both cut the attempt that runs, or neither.
    #[doc(hidden)]
    fn with_own_stop(self, own: Arc<Stop>, cuts: bool) -> Self::StoppedByOwn;
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
    /// Returns the outcome of an attempt that was cut, or of an operation whose time was over before its first attempt.
    #[doc(hidden)]
    fn out_of_time(&self, cut: <Self::Running as RunningLimits>::Cut) -> R;
}
