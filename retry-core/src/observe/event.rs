//! The events of an operation, and their names.

use crate::policy::RetryErrorType;
use crate::strategy::{DelaySource, Failure, RetryError};
use std::time::Duration;

/// Something that happened to an operation.
///
/// With the feature `test` it can be written as a literal, to test an observer. It may get more fields with any release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "test"), non_exhaustive)]
pub struct Event {
    /// The operation's name: the path of the function, or what was given to [`Retry::name`](crate::Retry::name).
    ///
    /// A method is named with its type, as in `crate::module::Type::method`, and a method of a trait as in
    /// `<crate::module::Type as crate::module::Trait>::method`, without generic arguments.
    pub operation: &'static str,
    /// The attempt that it happened to; the first one is 1. If the operation stopped before any could begin, it is 0.
    pub attempt: u32,
    /// The time since the first poll of the operation, by the clock of its timer.
    pub elapsed: Duration,
    /// What happened.
    pub kind: EventKind,
}

/// What happened to an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventKind {
    /// The strategy gave no initial token: there will be one attempt, of which nothing is learned.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Refused {
        /// Why.
        reason: RetryError,
    },
    /// A limiter holds the attempt back. It is told for each wait, and there may be many before one attempt.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Limited {
        /// How long it will be, before the limiter is asked again.
        wait: Duration,
    },
    /// The attempt begins.
    AttemptStarted,
    /// The attempt failed, as the policy has it: an `Ok` can be a failure, too.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    AttemptFailed {
        /// What the policy made of the outcome.
        failure: Failure,
    },
    /// Another attempt will follow.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    RetryScheduled {
        /// The class of the failure that made it necessary.
        error_type: Option<RetryErrorType>,
        /// The wait before it.
        delay: Duration,
        /// What set that.
        delay_source: DelaySource,
        /// What the quota holds now, if there is one.
        quota: Option<u32>,
    },
    /// The operation failed.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Stopped {
        /// Why there is no other attempt.
        reason: RetryError,
        /// The class of the last failure; `None` if the policy named none, or if `max_time` cut an attempt or kept it from
        /// being made.
        error_type: Option<RetryErrorType>,
        /// What the quota holds now, if there is one.
        quota: Option<u32>,
    },
    /// The operation succeeded.
    #[cfg_attr(not(feature = "test"), non_exhaustive)]
    Succeeded {
        /// Whether the strategy learned of it. It does not if it refused the initial token, or if it did not issue the
        /// one that it was handed.
        recorded: bool,
        /// What the quota holds now, if there is one.
        quota: Option<u32>,
    },
}

impl EventKind {
    /// Returns how long the operation waits before its next attempt, after [`RetryScheduled`](EventKind::RetryScheduled). For
    /// anything else it is `None`.
    ///
    /// An `on_retry` closure tells by this whether another attempt follows.
    pub const fn delay(&self) -> Option<Duration> {
        match self {
            Self::RetryScheduled { delay, .. } => Some(*delay),
            _ => None,
        }
    }

    /// The name as `tracing` has it: `attempt_started`, `retry_scheduled`, and so on.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Refused { .. } => "refused",
            Self::Limited { .. } => "limited",
            Self::AttemptStarted => "attempt_started",
            Self::AttemptFailed { .. } => "attempt_failed",
            Self::RetryScheduled { .. } => "retry_scheduled",
            Self::Stopped { .. } => "stopped",
            Self::Succeeded { .. } => "succeeded",
        }
    }
}
