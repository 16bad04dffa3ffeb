//! The time of a layer's requests: a timer, and perhaps time limits.

use retry_core::drive::{OperationBuilder, OutOfTime, SharedStop};
use retry_core::retry::OptionalObserver;
use retry_core::{Clock, TimedOut, Timer};
use std::time::Duration;

mod sealed {
    #[expect(unnameable_types, reason = "a seal")]
    pub trait Sealed {}
}

/// A timer with time limits, or with a [`Stop`](retry_core::Stop). A layer has it after [`max_time`](super::RetryLayer::max_time) and the like.
#[derive(Clone, Debug)]
pub struct Limited<T> {
    timer: T,
    max_time: Option<Duration>,
    attempt_timeout: Option<Duration>,
    stop: Option<SharedStop>,
}

/// The time of a layer: a timer, or a timer with limits, [`Limited`]. This trait is sealed.
///
/// ```
/// use retry_core::PatientRetryStrategy;
/// use retry_core::strategy::Static;
/// use retry_tower::{Requests, RetryLayer, Same, Time};
/// use retry_core::StandardRetryPolicy;
/// use std::time::Duration;
///
/// type Layer<T> =
///     RetryLayer<Static<PatientRetryStrategy>, Same<StandardRetryPolicy>, Requests, T>;
///
/// /// Adds a limit to a layer that may have others.
/// fn limited<T: Time>(layer: Layer<T>) -> Layer<T::Limited> {
///     layer.max_time(Duration::from_secs(30))
/// }
/// ```
pub trait Time: sealed::Sealed + Sized {
    /// The timer.
    type Timer;

    /// This time with a limit: [`Limited`].
    type Limited: Time<Timer = Self::Timer>;

    /// This time with another timer.
    type With<U: Timer>: Time<Timer = U>;

    /// Returns this time with a limit.
    #[doc(hidden)]
    fn limited(self) -> Limited<Self::Timer>;

    /// Creates the time of limits.
    #[doc(hidden)]
    fn of_limits(limits: Limited<Self::Timer>) -> Self::Limited;

    /// Returns this time with another timer.
    #[doc(hidden)]
    fn with_timer<U: Timer>(self, timer: U) -> Self::With<U>;
}

/// A time for outcomes of type `R`. With limits, it is one only if `R` can represent a [`TimedOut`]. This trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{R}` can't represent a `TimedOut`",
    label = "with a time limit or `stop`, the error type of the service implements `From<TimedOut>`",
    note = "for your own error type, write `impl From<TimedOut> for` it; as a variant, write `#[retry(transparent)] TimedOut(TimedOut)`",
    note = "`Box<dyn Error + Send + Sync>`, `anyhow::Error` and `io::Error` have it"
)]
pub trait TimeOf<R>: Time<Timer: Timer> {
    /// Sets the timer and the limits of an operation.
    #[doc(hidden)]
    fn set<S, C, O: OptionalObserver>(
        self,
        operation: OperationBuilder<S, C, O>,
    ) -> OperationBuilder<S, Self::Timer, O>;

    /// Returns the outcome of an attempt that was cut. `None` if there are no limits.
    #[doc(hidden)]
    fn timed_out(timed_out: TimedOut) -> Option<R>;
}

impl<T: Clock> sealed::Sealed for T {}

impl<T: Clock> Time for T {
    type Timer = T;
    type Limited = Limited<T>;
    type With<U: Timer> = U;

    fn limited(self) -> Limited<T> {
        Limited { timer: self, max_time: None, attempt_timeout: None, stop: None }
    }

    fn of_limits(limits: Limited<T>) -> Limited<T> {
        limits
    }

    fn with_timer<U: Timer>(self, timer: U) -> U {
        timer
    }
}

impl<R, T: Timer> TimeOf<R> for T {
    fn set<S, C, O: OptionalObserver>(self, operation: OperationBuilder<S, C, O>) -> OperationBuilder<S, T, O> {
        operation.clock(self)
    }

    fn timed_out(_: TimedOut) -> Option<R> {
        None
    }
}

impl<T> sealed::Sealed for Limited<T> {}

impl<T> Time for Limited<T> {
    type Timer = T;
    type Limited = Self;
    type With<U: Timer> = Limited<U>;

    fn limited(self) -> Self {
        self
    }

    fn of_limits(limits: Self) -> Self {
        limits
    }

    fn with_timer<U: Timer>(self, timer: U) -> Limited<U> {
        let Self { timer: _, max_time, attempt_timeout, stop } = self;
        Limited { timer, max_time, attempt_timeout, stop }
    }
}

impl<R: OutOfTime, T: Timer> TimeOf<R> for Limited<T> {
    fn set<S, C, O: OptionalObserver>(self, operation: OperationBuilder<S, C, O>) -> OperationBuilder<S, T, O> {
        let Self { timer, max_time, attempt_timeout, stop } = self;
        let mut operation = operation.clock(timer).max_time(max_time).attempt_timeout(attempt_timeout);
        if let Some(stop) = stop {
            operation = operation.stop(stop);
        }
        operation
    }

    fn timed_out(timed_out: TimedOut) -> Option<R> {
        Some(R::out_of_time(timed_out))
    }
}

impl<T> Limited<T> {
    pub(super) fn max_time(self, time: Option<Duration>) -> Self {
        Self { max_time: time, ..self }
    }

    pub(super) fn attempt_timeout(self, time: Option<Duration>) -> Self {
        Self { attempt_timeout: time, ..self }
    }

    pub(super) fn stop(self, stop: SharedStop) -> Self {
        Self { stop: Some(stop), ..self }
    }
}
