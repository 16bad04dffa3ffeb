//! The I/O error of a name that can't be resolved.

use retry_core::RetrySafety;
use retry_core::classify::Classification;
use std::error::Error;
use std::io;

/// Classifies an I/O error of the standard library's resolver: nothing was sent, so a retry is safe. Returns `None` for
/// any other link.
///
/// The error has no separate kind. So it is recognized by its message, or on Windows by the code of the system. If the
/// system call behind it failed, it has that call's error and is not recognized.
pub(crate) fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error: &io::Error = link.downcast_ref()?;
    let is_unresolved = match error.raw_os_error() {
        // `WSAHOST_NOT_FOUND`, `WSATRY_AGAIN`, `WSANO_RECOVERY` and `WSANO_DATA`.
        Some(code) => cfg!(windows) && (11001..=11004).contains(&code),
        None => error.to_string().starts_with("failed to lookup address information"),
    };
    is_unresolved.then_some(Classification::new(RetrySafety::Yes))
}
