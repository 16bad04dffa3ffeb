//! Classification of error chains by the first known link.
//!
//! This module is for errors whose own type says nothing about retries, such as `Box<dyn Error>`, `anyhow::Error` or
//! the error of a client library.
//!
//! | link | classification |
//! |---|---|
//! | [`std::io::Error`] | by its kind; see [`io`](super::io) |
//! | [`TimedOut`] | maybe, a timeout |
//! | `tokio::time::error::Elapsed`, with the feature `tokio` | maybe, a timeout |
//! | any other | no answer |
//!
//! # Links
//!
//! The first link is the error itself. Each further link is the [source](Error::source) of the one before. Three kinds
//! of link contain an error that `source` skips; after these, the next link is the error that they contain:
//!
//! - an I/O error that was made from another error;
//! - an `Arc` or a `Box` of one of the types above;
//! - an `Arc` of `dyn Error`, with or without `Send` and `Sync`, or a `&'static` reference to `dyn Error`. (A `Box` of
//!   `dyn Error` can't be a link, because it doesn't implement [`Error`].)
//!
//! At most 64 links are examined, so that a chain with a cycle ends.
//!
//! # Examples
//!
//! ```
//! use retry_core::RetrySafety;
//! use retry_core::classify::chain;
//! use std::io::{Error, ErrorKind};
//!
//! let error: Box<dyn std::error::Error> = Error::from(ErrorKind::ConnectionRefused).into();
//! assert_eq!(chain::known(&error).unwrap().is_retry_safe(), RetrySafety::Yes);
//! ```

mod error_like;

pub use error_like::{Concrete, Dyn, ErrorLike, Owner};
#[doc(hidden)]
pub use error_like::{IsError, OwnsError};

use super::Classification;
use crate::error::RetryInfo;
use crate::time::TimedOut;
use std::error::Error;
use std::sync::Arc;

/// The maximum number of links to examine.
const MAX_LINKS: usize = 64;

/// Classifies the first known link of a chain by the [table](self). Returns `None` if no link is known: the error is
/// *unknown*, which your policy can report as [`RetryErrorType::Unknown`](crate::RetryErrorType::Unknown).
///
/// The function takes a reference to [any error](ErrorLike), so it can classify a field of a derived
/// [`RetryInfo`](macro@crate::RetryInfo). There, `None` leaves the answer to the other attributes:
///
/// ```
/// use retry_core::classify::chain;
/// use retry_core::{RetryInfo, RetrySafety};
/// use std::error::Error;
/// use std::io;
///
/// #[derive(RetryInfo)]
/// struct JobError(#[retry(with = chain::known)] Box<dyn Error + Send + Sync>);
///
/// let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
/// assert_eq!(JobError(io::Error::other(refused).into()).is_retry_safe(), RetrySafety::Yes);
/// assert_eq!(JobError("no such table".into()).is_retry_safe(), RetrySafety::No);
/// ```
///
/// An error that can't implement `RetryInfo`, such as `anyhow::Error`, is classified by the policy of the operation, a
/// [`ChainPolicy`](crate::ChainPolicy).
pub fn known<E, K>(error: &E) -> Option<Classification>
where
    E: ErrorLike<K> + ?Sized,
{
    first_known(error, link)
}

/// Calls `known` for each link of a chain and returns the first classification, or `None` if there is none.
///
/// Use this for links whose types the library doesn't know. The [module docs](self#links) define the links.
///
/// ```
/// use retry_core::RetrySafety;
/// use retry_core::classify::{chain, http};
/// use std::error::Error;
/// # use std::fmt;
///
/// #[derive(Debug)]
/// struct Answered {
///     status: u16,
/// }
/// # impl fmt::Display for Answered {
/// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
/// #         write!(f, "status {}", self.status)
/// #     }
/// # }
/// # impl Error for Answered {}
///
/// let error = std::io::Error::other(Answered { status: 502 });
/// let error: Box<dyn Error + Send + Sync> = Box::new(error);
/// let classification = chain::first_known(&error, |link| {
///     link.downcast_ref::<Answered>().map(|answered| http::status(answered.status))
/// });
/// assert_eq!(classification, Some(http::status(502)));
/// ```
pub fn first_known<E, K>(
    error: &E,
    known: impl FnMut(&(dyn Error + 'static)) -> Option<Classification>,
) -> Option<Classification>
where
    E: ErrorLike<K> + ?Sized,
{
    links(error.as_link()).find_map(known)
}

/// Returns the links of the chain that begins with this error.
pub(crate) fn links<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| next(*link)).take(MAX_LINKS)
}

/// Classifies one link by the [table](self), without its sources. Returns `None` if the link is not known.
pub fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    if let Some(error) = link.downcast_ref() {
        return super::io::known(error);
    }
    if let Some(error) = link.downcast_ref::<TimedOut>() {
        return Some(Classification::of(error));
    }
    #[cfg(feature = "tokio")]
    if link.is::<tokio::time::error::Elapsed>() {
        return super::io::known_kind(std::io::ErrorKind::TimedOut);
    }
    None
}

/// Classifies a link of the type `E` by its own [`RetryInfo`]. Returns `None` for a link of another type, and for an error that is
/// [unknown](RetryInfo::is_unknown).
///
/// Use this to teach a [`ChainPolicy`](crate::ChainPolicy) your own error types: `.also(chain::typed::<StoreError>)`.
pub fn typed<E: Error + RetryInfo + 'static>(link: &(dyn Error + 'static)) -> Option<Classification> {
    link.downcast_ref::<E>().filter(|error| !error.is_unknown()).map(Classification::of)
}

fn next<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    held(link).or_else(|| link.source())
}

/// Returns the error inside a link that forwards `source` to that error, and so would skip it.
fn held<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(error) = link.downcast_ref::<std::io::Error>() {
        return error.get_ref().map(|error| error as _);
    }
    let held = pointee::<std::io::Error>(link).or_else(|| pointee::<TimedOut>(link));
    #[cfg(feature = "tokio")]
    let held = held.or_else(|| pointee::<tokio::time::error::Elapsed>(link));
    held.or_else(|| dyn_pointee(link))
}

/// Returns the error behind a link that is a pointer to a `T`.
fn pointee<'e, T: Error + 'static>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(pointer) = link.downcast_ref::<Arc<T>>() {
        return Some(&**pointer);
    }
    link.downcast_ref::<Box<T>>().map(|pointer| &**pointer as _)
}

/// Returns the error behind a link that is a pointer to a `dyn Error`.
fn dyn_pointee<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    macro_rules! behind {
        ($($pointer:ty),+) => {
            $(if let Some(pointer) = link.downcast_ref::<$pointer>() {
                return Some(&**pointer);
            })+
        };
    }
    behind!(Arc<dyn Error + Send + Sync>, Arc<dyn Error + Send>, Arc<dyn Error>);
    behind!(&'static (dyn Error + Send + Sync), &'static (dyn Error + Send), &'static dyn Error);
    None
}
