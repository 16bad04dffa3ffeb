//! What happened to an operation: events for an observer and for `tracing`, and the report of one operation.

pub(crate) mod trace;

use crate::policy::RetryErrorType;
use crate::strategy::{DelaySource, Failure, RetryError};
use std::sync::Arc;
use std::time::Duration;

/// Is told what happens to operations, as it happens: for metrics, logs, and tests.
///
/// Name one with `observer = OBSERVER` in the attribute, or with [`Retry::observer`](crate::Retry::observer). Where
/// nobody observes, nothing is made of what there would be to tell, and no clock is read for it.
///
/// ```
/// use retry_core::{Event, EventKind, Observer, RetryInfo, retryable};
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[derive(Default)]
/// struct Metrics {
///     retries: AtomicU64,
///     given_up: AtomicU64,
/// }
///
/// impl Observer for Metrics {
///     fn observe(&self, event: &Event) {
///         match event.kind {
///             EventKind::RetryScheduled { .. } => self.retries.fetch_add(1, Ordering::Relaxed),
///             EventKind::Stopped { .. } => self.given_up.fetch_add(1, Ordering::Relaxed),
///             _ => return,
///         };
///     }
/// }
///
/// static METRICS: Metrics = Metrics { retries: AtomicU64::new(0), given_up: AtomicU64::new(0) };
///
/// # #[derive(RetryInfo)]
/// # #[retry(fault = "client")]
/// # struct NoSuchKey;
/// #[retryable(strategy = "standard", observer = METRICS)]
/// async fn get(key: &str) -> Result<String, NoSuchKey> {
///     // One attempt.
/// #   Err(NoSuchKey)
/// }
/// # assert!(tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(get("key")).is_err());
/// # assert_eq!(METRICS.given_up.load(Ordering::Relaxed), 1);
/// ```
///
/// # What follows what
///
/// The events of an operation that runs to its end, by [`EventKind::as_str`], with `[ ]` for what may be left out and
/// `{ }` for what may be repeated or left out:
///
/// ```text
/// operation = [ refused ] { { limited } attempt_started attempt_failed retry_scheduled } { limited } end
/// end       = attempt_started succeeded
///           | attempt_started attempt_failed stopped
///           | attempt_started stopped                       (the attempt was cut by max_time)
///           | stopped                                       (no attempt could begin before max_time)
/// ```
///
/// If the operation is dropped, or its body panics, they end at that point.
///
/// An observer is called in the middle of the operation, so it should be quick. If it panics, so does the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no observer",
    label = "this does not implement `Observer`",
    note = "an observer implements `fn observe(&self, event: &Event)`"
)]
pub trait Observer {
    /// Returns whether the observer is interested in operations with this name. It is asked once, when the operation
    /// begins; if it returns `false`, no event of that operation is built. By default it returns `true`.
    fn is_interested(&self, operation: &'static str) -> bool {
        let _ = operation;
        true
    }

    /// Called for each event of an operation.
    fn observe(&self, event: &Event);
}

macro_rules! forward_observer {
    ($($pointer:ty),+) => {$(
        impl<O: Observer + ?Sized> Observer for $pointer {
            fn is_interested(&self, operation: &'static str) -> bool {
                (**self).is_interested(operation)
            }

            fn observe(&self, event: &Event) {
                (**self).observe(event);
            }
        }
    )+};
}

forward_observer!(&O, Box<O>, Arc<O>);

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

/// What became of one operation: all that the outcome alone doesn't tell.
///
/// [`Retry::report`](crate::Retry::report) gives one.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "test"), non_exhaustive)]
pub struct Report<R> {
    /// The last outcome, untouched.
    pub outcome: R,
    /// How many attempts were made. At least one, unless a limiter held the first one back until the time was up.
    pub attempts: u32,
    /// Why there was no further attempt; `None` after a success.
    pub reason: Option<RetryError>,
    /// The time from the first poll to the last outcome, waits included, by the clock of the timer.
    pub elapsed: Duration,
}
