//! Events for observers and for `tracing`, and reports of single operations.

mod event;
#[cfg(feature = "global-observer")]
mod global;
#[cfg(feature = "metrics")]
pub mod metrics;
mod operation_id;
mod report;
pub(crate) mod trace;

pub use event::{Event, EventKind};
#[cfg(feature = "global-observer")]
pub(crate) use global::global_observer;
#[cfg(feature = "global-observer")]
pub use global::{GlobalObserverIsSet, set_global_observer};
#[cfg(any(feature = "tracing", feature = "global-observer"))]
pub(crate) use operation_id::IdSlot;
pub use operation_id::OperationId;
pub use report::Report;

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
/// #[retryable(strategy = "standard", observer = METRICS)]
/// async fn get(key: &str) -> Result<String, NoSuchKey> {
///     // One attempt.
/// #   Err(NoSuchKey)
/// }
/// # assert!(tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(get("key")).is_err());
/// # assert_eq!(METRICS.given_up.load(Ordering::Relaxed), 1);
/// ```
///
/// # Observers that are chosen at run time
///
/// Pointers to observers are observers, also to a `dyn Observer`. So is an `Option`: with `None`, no event is built. A
/// component that may be given an observer has a field such as `Option<Arc<dyn Observer + Send + Sync>>`.
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
///     #[retryable(strategy = "standard", observer = self.observer)]
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
/// operation = [ refused ] { { limited } attempt_started attempt_failed retry_scheduled } { limited } end
/// end       = attempt_started succeeded
///           | attempt_started [ unknown_error ] attempt_failed [ held_back ] stopped
///           | attempt_started stopped                       (max_time or deadline cut the attempt)
///           | stopped                                       (max_time or deadline prevented the attempt)
/// ```
///
/// If the operation is dropped, or its body panics, the events end at that point.
///
/// The operation waits for its observer, so an observer should return quickly. If the observer panics, the panic
/// propagates to the caller of the operation.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no observer",
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

/// An observer that may be absent. `None` is interested in no operation, so no event is built for it.
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
