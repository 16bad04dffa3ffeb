//! Classification of [`std::io::Error`]s by their kind.
//!
//! | kind | safe | timeout | fault | why |
//! |---|---|---|---|---|
//! | `ConnectionRefused` | yes | | other | nothing was sent |
//! | `TimedOut`, `WouldBlock` | maybe | yes | other | the request may have arrived (a socket's read timeout is a `WouldBlock` on Unix) |
//! | `ConnectionReset`, `ConnectionAborted`, `BrokenPipe`, `NotConnected` | maybe | | server | the server closed the connection, perhaps after it had acted |
//! | `UnexpectedEof` | maybe | | server | the response was cut short |
//! | `HostUnreachable`, `NetworkUnreachable`, `NetworkDown` | maybe | | server | can also be reported after the request was sent |
//! | `Interrupted`, `AddrInUse`, `AddrNotAvailable`, `ResourceBusy` | maybe | | other | the obstacle may be gone later |
//! | any other | no answer | | | the kind alone is not enough to tell |
//!
//! *No answer* means `None`. In a [chain](super::chain) the next link is then examined; if no link gives an answer, the
//! error is not retried. A failed name resolution has no separate kind, so it gets no answer. The modules of
//! `retry-clients` recognize it, and classify it as safe to retry.
//!
//! [`std::io::Error`] doesn't implement [`RetryInfo`](crate::RetryInfo), because a missing file and an unreachable
//! service have the same type. The error type that wraps it decides whether this table applies.
//!
//! # Examples
//!
//! ```
//! use retry_core::RetrySafety;
//! use retry_core::classify::io;
//! use std::io::{Error, ErrorKind};
//!
//! let refused = io::known(&Error::from(ErrorKind::ConnectionRefused)).unwrap();
//! assert_eq!(refused.is_retry_safe(), RetrySafety::Yes);
//! let reset = io::known(&Error::from(ErrorKind::ConnectionReset)).unwrap();
//! assert_eq!(reset.is_retry_safe(), RetrySafety::Maybe);
//! ```

use super::Classification;
use crate::error::{ErrorFault, RetrySafety};
use std::io::ErrorKind;

/// Classifies an I/O error by its [kind](std::io::Error::kind). Returns `None` if the [table](self) has no answer.
///
/// In a derived [`RetryInfo`](macro@crate::RetryInfo), `None` leaves the answer to the other attributes. If they give
/// no answer either, the error is not retried:
///
/// ```
/// use retry_core::classify::io;
/// use retry_core::{RetryInfo, RetrySafety};
/// use std::io::ErrorKind;
///
/// #[derive(RetryInfo)]
/// struct Disconnected(#[retry(with = io::known)] std::io::Error);
///
/// assert_eq!(Disconnected(ErrorKind::ConnectionRefused.into()).is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(Disconnected(ErrorKind::NotFound.into()).is_retry_safe(), RetrySafety::No);
/// ```
///
/// Only the kind of the error itself is examined. [`chain::known`](super::chain::known) also examines the error inside.
pub fn known(error: &std::io::Error) -> Option<Classification> {
    known_kind(error.kind())
}

/// Classifies a kind of I/O error. Returns `None` if the [table](self) has no answer.
///
/// ```
/// use retry_core::RetrySafety;
/// use retry_core::classify::io;
/// use std::io::ErrorKind;
///
/// let cut_short = io::known_kind(ErrorKind::UnexpectedEof);
/// assert_eq!(cut_short.map(|found| found.is_retry_safe()), Some(RetrySafety::Maybe));
/// assert_eq!(io::known_kind(ErrorKind::NotFound), None);
/// ```
pub const fn known_kind(kind: ErrorKind) -> Option<Classification> {
    use ErrorKind as Kind;

    let answer = match kind {
        Kind::ConnectionRefused => Classification::new(RetrySafety::Yes),
        Kind::TimedOut | Kind::WouldBlock => Classification::new(RetrySafety::Maybe).with_timeout(),
        Kind::ConnectionReset
        | Kind::ConnectionAborted
        | Kind::BrokenPipe
        | Kind::NotConnected
        | Kind::UnexpectedEof
        | Kind::HostUnreachable
        | Kind::NetworkUnreachable
        | Kind::NetworkDown => Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server),
        Kind::Interrupted | Kind::AddrInUse | Kind::AddrNotAvailable | Kind::ResourceBusy => {
            Classification::new(RetrySafety::Maybe)
        }
        _ => return None,
    };
    Some(answer)
}
