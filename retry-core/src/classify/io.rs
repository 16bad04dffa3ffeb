//! Errors of the standard library's input and output, by their kind.
//!
//! | kind | safe | timeout | fault | because |
//! |---|---|---|---|---|
//! | `ConnectionRefused`, `HostUnreachable`, `NetworkUnreachable`, `NetworkDown`, `Interrupted` | yes | | other | nothing was done yet |
//! | `TimedOut` | maybe | yes | other | the request may have arrived |
//! | `ConnectionReset`, `ConnectionAborted`, `BrokenPipe`, `NotConnected` | maybe | | server | the other side went away, perhaps after it had acted |
//! | `AddrInUse`, `AddrNotAvailable`, `ResourceBusy`, `WouldBlock` | maybe | | other | it may be free later |
//! | any other | no | | other | it would fail again, or nobody knows |
//!
//! [`std::io::Error`] doesn't implement [`RetryInfo`](crate::RetryInfo), because a file that is missing and a service that is
//! gone are the same type: whether these rules fit is for the error around it to say.

use super::Classification;
use crate::error::{ErrorFault, RetrySafety};
use std::io::ErrorKind;

/// What an I/O error means, by its [kind](std::io::Error::kind).
///
/// An error that was made by [`Error::other`](std::io::Error::other) has a kind that says nothing. What lies in it,
/// [`chain::io`](super::chain::io) finds.
pub fn error(error: &std::io::Error) -> Classification {
    kind(error.kind())
}

/// What a kind of I/O error means, by the [table](self).
///
/// ```
/// use retry_core::RetrySafety;
/// use retry_core::classify::io;
/// use std::io::ErrorKind;
///
/// assert_eq!(io::kind(ErrorKind::ConnectionRefused).is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(io::kind(ErrorKind::NotFound).is_retry_safe(), RetrySafety::No);
/// ```
pub const fn kind(kind: ErrorKind) -> Classification {
    use ErrorKind as Kind;

    match kind {
        Kind::ConnectionRefused
        | Kind::HostUnreachable
        | Kind::NetworkUnreachable
        | Kind::NetworkDown
        | Kind::Interrupted => Classification::new(RetrySafety::Yes),
        Kind::TimedOut => Classification::new(RetrySafety::Maybe).with_timeout(),
        Kind::ConnectionReset | Kind::ConnectionAborted | Kind::BrokenPipe | Kind::NotConnected => {
            Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server)
        }
        Kind::AddrInUse | Kind::AddrNotAvailable | Kind::ResourceBusy | Kind::WouldBlock => {
            Classification::new(RetrySafety::Maybe)
        }
        _ => Classification::new(RetrySafety::No),
    }
}
