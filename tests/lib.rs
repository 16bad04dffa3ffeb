//! What the tests of all subjects share. Each subject is its own test binary, in the folder of its name.

#![expect(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::new_without_default,
    clippy::return_self_not_must_use,
    reason = "only the tests beside this file use it"
)]

pub mod program;
pub mod script;
pub mod support;

/// An unsafe function is retried, too. This is its own program, because the workspace forbids unsafe code.
///
/// ```
/// use retry_core::{RetryInfo, retryable};
///
/// #[derive(Debug, RetryInfo)]
/// struct Failed;
///
/// #[retryable(strategy = "standard")]
/// async unsafe fn get(place: *const u32) -> Result<u32, Failed> {
///     Ok(unsafe { *place })
/// }
///
/// let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// assert_eq!(runtime.block_on(unsafe { get(&7) }).unwrap(), 7);
/// ```
#[cfg(doctest)]
pub struct UnsafeFunction;
