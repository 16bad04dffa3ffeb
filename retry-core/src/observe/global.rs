//! The observer of all operations of the process.

use super::Observer;
use std::error::Error;
use std::fmt;
use std::sync::OnceLock;

static GLOBAL: OnceLock<&'static (dyn Observer + Send + Sync)> = OnceLock::new();

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
    GLOBAL.set(observer).map_err(|_| GlobalObserverIsSet)
}

/// Returns the observer of all operations, if it was set.
#[inline]
pub(crate) fn global_observer() -> Option<&'static (dyn Observer + Send + Sync)> {
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
