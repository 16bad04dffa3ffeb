//! The observer of all operations of the process.

#[cfg(feature = "metrics")]
use super::metrics::MetricsObserver;
use super::{Event, EventKind, Observer};
use std::error::Error;
use std::fmt;
use std::sync::OnceLock;

static GLOBAL: OnceLock<GlobalObserver> = OnceLock::new();

/// The observer of all operations.
#[derive(Clone, Copy)]
pub(crate) enum GlobalObserver {
    /// An observer that the program has set.
    Given(&'static (dyn Observer + Send + Sync)),
    /// The metrics, which need no event of most operations.
    #[cfg(feature = "metrics")]
    Metrics(&'static MetricsObserver),
}

/// Sets the observer of all operations of the process. It gets the events of every operation that begins afterwards,
/// besides the observer of the call.
///
/// A library should leave this to the program that uses it.
///
/// # Errors
///
/// Returns an error if it was set before. The first one stays.
///
/// ```
/// use retry_core::observe::set_global_observer;
/// use retry_core::{Event, Observer};
///
/// struct Log;
///
/// impl Observer for Log {
///     fn observe(&self, event: &Event) {
///         println!("{} {:?}", event.operation, event.kind);
///     }
/// }
///
/// set_global_observer(&Log)?;
/// assert!(set_global_observer(&Log).is_err());
/// # Ok::<(), retry_core::observe::GlobalObserverIsSet>(())
/// ```
pub fn set_global_observer(observer: &'static (dyn Observer + Send + Sync)) -> Result<(), GlobalObserverIsSet> {
    GlobalObserver::Given(observer).set()
}

impl GlobalObserver {
    /// Sets this observer, unless one was set before.
    pub(super) fn set(self) -> Result<(), GlobalObserverIsSet> {
        GLOBAL.set(self).map_err(|_| GlobalObserverIsSet)
    }

    /// Returns whether the observer needs the time of an event. Metrics need the time of the last event of an operation only.
    #[inline]
    pub(crate) const fn needs_time(self, kind: &EventKind) -> bool {
        let _ = kind;
        match self {
            Self::Given(_) => true,
            #[cfg(feature = "metrics")]
            Self::Metrics(_) => matches!(kind, EventKind::Stopped { .. } | EventKind::Succeeded { .. }),
        }
    }

    /// Passes an event to the observer.
    #[inline]
    pub(crate) fn observe(self, event: &Event) {
        match self {
            Self::Given(observer) => observer.observe(event),
            #[cfg(feature = "metrics")]
            Self::Metrics(metrics) => metrics.observe(event),
        }
    }
}

/// Returns the observer of all operations, if it was set.
#[inline]
pub(crate) fn global_observer() -> Option<GlobalObserver> {
    GLOBAL.get().copied()
}

/// The error of a second call of [`set_global_observer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalObserverIsSet;

impl fmt::Display for GlobalObserverIsSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the global observer was set before")
    }
}

impl Error for GlobalObserverIsSet {}
