//! Events for observers and for `tracing`, and reports of single operations.
//!
//! ```
//! use retry_core::{Event, Observer, PatientRetryStrategy, RetryInfo, retryable};
//!
//! struct Print;
//!
//! impl Observer for Print {
//!     fn observe(&self, event: &Event) {
//!         println!("{}: {:?}", event.operation, event.kind);
//!     }
//! }
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(throttling)]
//! struct SlowDown;
//!
//! static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = STORE, observer = Print)]
//! async fn get(key: &str) -> Result<String, SlowDown> {
//!     // One attempt.
//! #   Ok(key.to_owned())
//! }
//! ```
//!
//! # The events
//!
//! The [`Observer`] of an operation, if it has one, receives the operation's events. With the feature `tracing`, the
//! subscriber of `tracing` receives them too. There, each event has the target `retry_core`, or `retry_core::text` if it has the field `chain`, the fields `operation`,
//! `operation_id` and `attempt`, `strategy` if the strategy has a name, and the fields in the table. [`Observer`]
//! documents the order of the events.
//!
//! | event | meaning | level | fields |
//! |---|---|---|---|
//! | `refused` | the strategy refused the initial token | warn | `reason` |
//! | `limited` | a limiter holds the attempt back; one event for each wait, which is at most 100 ms with the strategies of this library | trace | `wait_ms` |
//! | `attempt_started` | an attempt begins | trace | |
//! | `hedge_sent` | the first attempt has no answer after the delay of its [hedge](crate#features), so a second one begins beside it | debug | |
//! | `hedge_not_sent` | the same, but there is no hedge | debug; warn once for each function if the strategy sells none | `reason` |
//! | `hedges_do_little` | hedges helped fewer than 10 of the last 1,000 calls that reached the delay; see [`Hedge`](crate#features) | warn, once for each function; without `operation_id` and `attempt` | `helped`, `calls`, `delay_ms` |
//! | `hedge_ended` | one of the two attempts ended the race, or both failed | debug | `won` |
//! | `unknown_error` | the error of the attempt is not classified, so it is not retried; once for each function | warn | `chain`, the texts of the error and its sources |
//! | `progressed` | the attempt failed, but did [a part of the work](crate::RetryDirective::progressed): the operation counts its attempts from 1 again | debug | |
//! | `attempt_failed` | an attempt failed | debug | `error_type`, `retryable`, `retry_after_ms` if the server asked for a wait |
//! | `nested` | the first retry of an operation within an attempt of another one follows; once for each pair of functions, in builds with debug assertions or the feature `test` | warn | `outer`, `max_attempts`, the product of both maxima |
//! | `retry_scheduled` | a retry follows after a delay | debug | `error_type`, `delay_ms`, `delay_source`, `quota`, `quota_mode`, `send_rate` |
//! | `waiting_for_service` | the quota can't pay for a retry, so the operation waits for evidence that the service answers again | debug | `error_type`, `delay_ms`, a wait that the server asked for, `waiting`, `quota`, `quota_mode`, `send_rate` |
//! | `released` | the wait for the service is over, and the attempt is sent | debug | `waited_ms`, `waiting` |
//! | `stopped` | the operation failed | debug if the failure is not retryable, retries are switched off or the operation was [stopped](crate::Stop) or ended by `on_retry`, otherwise warn; of operations of one function that the quota refuses, the first one and then one each 10 seconds is at warn | `reason`, `error_type`, `quota`, `quota_mode`, `send_rate`; at warn also `chain`, the texts of the error and its sources, and `also_refused` |
//! | `succeeded` | the operation succeeded | trace at the first attempt, debug after a retry, warn if the strategy did not record the success | `recorded`, `quota`, `quota_mode`, `send_rate` |
//!
//! Strategies, quotas and limiters also warn, with the fields `strategy`, if the strategy has a name, and `capacity` for a quota:
//!
//! | event | meaning | level |
//! |---|---|---|
//! | `held` | a server asked a strategy whose limiter [holds all operations back](crate::limit::Unpaid::holds_too_long) for a longer wait than `max_retry_after`, for the first time: first attempts wait; with `wait_ms` | warn |
//! | `quota_exhausted` | a [`TokenBucket`](crate::TokenBucket) or an [`EvidenceQuota`](crate::quota::EvidenceQuota) refused a retry, for the first time since it was full or had recovered | warn |
//! | `quota_recovered` | a `TokenBucket` is back at half of its capacity and can pay what was refused, or an `EvidenceQuota` is full again and has forgotten the failures | warn |
//! | `service_unavailable` | the quota of a [`PatientRetryStrategy`](crate::PatientRetryStrategy) refused a retry, so an operation waits, for the first time since the service had recovered. It comes in place of `quota_exhausted` | warn |
//! | `service_recovered` | no operation waits, and 16 calls have begun since the latest wait; with `lasted_ms`, from the first wait to the end of the latest, `waits`, and how many of them were `in_vain` | warn |
//!
//! The fields have these values:
//!
//! - `operation`: the [path of the function](Event::operation); for [`retry()`](crate::retry()) the name of the call, which is the path
//!   of the closure by default.
//! - `operation_id`: the [id of the operation](OperationId), in the form of a UUID.
//! - `error_type`: a name from [`RetryErrorType::as_str`](crate::RetryErrorType::as_str), or `none` if the policy gave no class, or the operation ended in a wait
//!   or by a time limit.
//! - `reason`: a name from [`RetryError::as_str`](crate::RetryError::as_str), or from [`NoHedge::as_str`](crate::observe::NoHedge::as_str)
//!   for `hedge_not_sent`.
//! - `delay_source`: a name from [`DelaySource::as_str`](crate::strategy::DelaySource::as_str).
//! - `waiting`: the number of operations of the strategy that wait for the service.
//! - `waited_ms`: how long the operation has waited for the service so far.
//! - `chain`: at most 8 texts with at most 200 bytes each, in one line. An event with `chain` has the target `retry_core::text`. The texts can
//!   contain secrets, such as a token in a URL; with a filter such as `retry_core::text=off`, the same events come without them, with the
//!   target `retry_core`. In `stopped`, there is a text if an attribute's function returns a `Result` whose error implements
//!   [`Error`](std::error::Error) or owns one, as `anyhow::Error` does, and whose type has no `impl Trait`; in closures, layers and streams, if
//!   [`unknown_error`](crate::RetryPolicy::unknown_error) of the policy returns the error, as that of a `ChainPolicy` does, or, with the
//!   standard policy, if [`as_error`](crate::RetryInfo::as_error) of the error does. It is made only for a subscriber that gets it.
//! - `also_refused`: the number of operations of the function that the quota refused since the last such event at level warn.
//! - `quota`: the level of the retry quota after the event.
//! - `quota_mode`: a name from [`QuotaMode::as_str`](crate::quota::QuotaMode::as_str), for a quota that has modes, such as
//!   [`EvidenceQuota`](crate::quota::EvidenceQuota).
//! - `send_rate`: the limit on sends per second after the event, if there is one.

mod event;
#[cfg(feature = "global-observer")]
mod global;
#[cfg(feature = "metrics")]
pub mod metrics;
mod operation_id;
mod report;
pub(crate) mod stderr;
pub(crate) mod trace;

pub use event::{Event, EventKind, NoHedge};
#[cfg(feature = "global-observer")]
pub(crate) use global::{GlobalObserver, global_observer};
#[cfg(feature = "global-observer")]
pub use global::{GlobalObserverIsSet, set_global_observer};
#[cfg(any(feature = "tracing", feature = "global-observer"))]
pub(crate) use operation_id::IdSlot;
pub use operation_id::OperationId;
pub use report::Report;
pub use stderr::set_stderr_warnings_enabled;

#[cfg(any(feature = "tracing", feature = "metrics"))]
use crate::policy::RetryErrorType;
use std::sync::Arc;

/// Returns the name of the class of a failure, or `none` if it has no class.
#[cfg(any(feature = "tracing", feature = "metrics"))]
fn name_of(error_type: Option<RetryErrorType>) -> &'static str {
    error_type.map_or("none", RetryErrorType::as_str)
}

/// Receives the events of operations as they happen, for metrics, logs and tests.
///
/// Set an observer with `observer = OBSERVER` in the attribute, or with [`Retry::observer`](crate::Retry::observer).
/// Without an observer, and without a `tracing` subscriber for it, no event is built, and no clock is read for events.
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
/// #[retryable(strategy = "patient", observer = METRICS)]
/// async fn get(key: &str) -> Result<String, NoSuchKey> {
///     // One attempt.
/// #   Err(NoSuchKey)
/// }
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # assert!(runtime.block_on(get("key")).is_err());
/// # assert_eq!(METRICS.given_up.load(Ordering::Relaxed), 1);
/// ```
///
/// # Observers that are chosen at run time
///
/// Pointers to observers are observers, including pointers to a `dyn Observer`. So is an `Option`: with `None`, no
/// event is built. A component with an optional observer has a field such as `Option<Arc<dyn Observer + Send + Sync>>`.
///
/// ```
/// use retry_core::{Observer, RetryInfo, retryable};
/// use std::sync::Arc;
///
/// # #[derive(RetryInfo)]
/// # #[retry(fault = "client")]
/// # struct NoSuchKey;
/// struct Client {
///     observer: Option<Arc<dyn Observer + Send + Sync>>,
/// }
///
/// impl Client {
///     #[retryable(strategy = "patient", observer = self.observer)]
///     async fn get(&self, key: &str) -> Result<String, NoSuchKey> {
///         // One attempt.
/// #       Err(NoSuchKey)
///     }
/// }
/// ```
///
/// # The order of events
///
/// This grammar describes the events of an operation that runs to its end, by the names that [`EventKind::as_str`]
/// returns. `[ ]` means zero or one time, and `{ }` means any number of times, including zero:
///
/// ```text
/// operation = [ refused ]
///             { { limited } attempt_started failed [ nested ] next }
///             { limited } end
/// failed    = [ progressed ] attempt_failed
/// next      = retry_scheduled
///           | waiting_for_service [ released ]      (not released: stopped follows)
/// end       = attempt_started succeeded
///           | attempt_started [ unknown_error ] failed stopped
///           | attempt_started stopped               (max_time or deadline cut the attempt)
///           | stopped                               (max_time or deadline prevented the attempt,
///                                                    or the service did not recover)
/// ```
///
/// With a [hedge](crate#features), this can follow the first `attempt_started`: `hedge_not_sent`, or
///
/// ```text
/// hedge_sent attempt_started { unknown_error } [ hedge_ended ]
/// ```
///
/// These three have attempt 2. The operation then continues as after one attempt. If both attempts fail, there is one
/// `attempt_failed`, with attempt 2. A `succeeded` has the attempt that won.
///
/// If the operation is dropped, or its body panics, the events end at that point.
///
/// The operation waits for its observer, so an observer should return quickly. If the observer panics, the panic
/// propagates to the caller of the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an observer",
    label = "this does not implement `Observer`",
    note = "an observer implements `fn observe(&self, event: &Event)`"
)]
pub trait Observer {
    /// Returns whether the observer is interested in operations with this name. The default returns `true`.
    ///
    /// The method is called once for each operation, when the operation begins. If it returns `false`, the observer
    /// receives no event of that operation.
    fn is_interested(&self, operation: &'static str) -> bool {
        let _ = operation;
        true
    }

    /// Handles an event. This is called for each event of an operation.
    fn observe(&self, event: &Event);
}

/// Pointers to observers forward to them.
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

/// An optional observer. `None` is interested in no operation, so no event is built for it.
impl<O: Observer> Observer for Option<O> {
    #[inline]
    fn is_interested(&self, operation: &'static str) -> bool {
        self.as_ref().is_some_and(|observer| observer.is_interested(operation))
    }

    fn observe(&self, event: &Event) {
        if let Some(observer) = self {
            observer.observe(event);
        }
    }
}
