//! What happened to an operation: events for an observer and for `tracing`, and the report of one operation.

mod event;
mod report;
pub(crate) mod trace;

pub use event::{Event, EventKind};
pub use report::Report;

use std::sync::Arc;

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
