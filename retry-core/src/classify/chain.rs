//! Chains of errors: the first link whose meaning is known.
//!
//! For errors whose own type says nothing about retries, such as `Box<dyn Error>`, `anyhow::Error` or the error of a
//! client library.
//!
//! | link | meaning |
//! |---|---|
//! | [`std::io::Error`] | by its kind, see [`io`](super::io) |
//! | [`TimedOut`] | maybe, a timeout |
//! | `tokio::time::error::Elapsed`, with the feature `tokio` | maybe, a timeout |
//! | any other | no answer |
//!
//! # Links
//!
//! The first link is the error itself, the next one its [source](Error::source), and so on. Three kinds of link hold an
//! error that `source` skips; there the next link is the error that they hold:
//!
//! - an I/O error that was made from another error;
//! - an `Arc` or a `Box` of one of the types above;
//! - an `Arc` of `dyn Error`, with or without `Send` and `Sync`, or a `&'static` reference to it. (A `Box` of `dyn Error` can't
//!   be a link: it doesn't implement [`Error`].)
//!
//! No more than 64 links are looked at, so that a chain that leads back into itself has an end.

mod error_like;

pub use error_like::ErrorLike;

use super::Classification;
use crate::time::TimedOut;
use std::error::Error;
use std::sync::Arc;

/// How many links are looked at.
const MAX_LINKS: usize = 64;

/// Returns what the first known link of a chain means, by the [table](self), or `None` if no link is known.
///
/// It takes a reference to [any error](ErrorLike), and so it can judge a field of a derived
/// [`RetryInfo`](macro@crate::RetryInfo), where `None` leaves the answer to the rest of the attributes:
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
/// An error that can't implement `RetryInfo`, such as `anyhow::Error`, is judged by the policy of the call:
///
/// ```
/// use retry_core::classify::{Classification, chain};
/// use retry_core::{RetryDirective, RetrySafety, StandardRetryPolicy, StandardRetryStrategy, policy_fn, retryable};
/// use std::error::Error;
/// # type AnyError = Box<dyn Error + Send + Sync>;
///
/// static JOBS: StandardRetryStrategy = StandardRetryStrategy::new();
///
/// fn by_known_links<T>(outcome: &Result<T, AnyError>) -> RetryDirective {
///     match outcome {
///         Ok(_) => RetryDirective::succeed(),
///         Err(error) => {
///             let verdict = chain::known(error).unwrap_or(Classification::new(RetrySafety::No));
///             StandardRetryPolicy::new().evaluate_error(&verdict)
///         }
///     }
/// }
///
/// #[retryable(strategy = JOBS, policy = policy_fn(by_known_links), attempt_timeout = "5s")]
/// async fn run() -> Result<(), AnyError> {
///     // One attempt. If it takes too long, its error is a `TimedOut` in a box.
/// #   Ok(())
/// }
/// ```
pub fn known<E, K>(error: &E) -> Option<Classification>
where
    E: ErrorLike<K> + ?Sized,
{
    first_known(error, link)
}

/// Returns the first answer that `known` gives for a link of a chain, or `None` if it gives none.
///
/// For links whose types the library doesn't know. What the links are, the [module](self#links) explains.
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
/// #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { write!(f, "status {}", self.status) }
/// # }
/// # impl Error for Answered {}
///
/// let error: Box<dyn Error + Send + Sync> = Box::new(std::io::Error::other(Answered { status: 502 }));
/// let verdict = chain::first_known(&error, |link| {
///     link.downcast_ref::<Answered>().map(|answered| http::status(answered.status))
/// });
/// assert_eq!(verdict, Some(http::status(502)));
/// ```
pub fn first_known<E, K>(
    error: &E,
    known: impl FnMut(&(dyn Error + 'static)) -> Option<Classification>,
) -> Option<Classification>
where
    E: ErrorLike<K> + ?Sized,
{
    std::iter::successors(Some(error.as_link()), |link| next(*link)).take(MAX_LINKS).find_map(known)
}

/// What one link means by itself.
fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    if let Some(error) = link.downcast_ref() {
        return super::io::error(error);
    }
    if let Some(error) = link.downcast_ref::<TimedOut>() {
        return Some(Classification::of(error));
    }
    #[cfg(feature = "tokio")]
    if link.is::<tokio::time::error::Elapsed>() {
        return super::io::kind(std::io::ErrorKind::TimedOut);
    }
    None
}

fn next<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    held(link).or_else(|| link.source())
}

/// The error that a link holds and that its `source` skips: its source is that of the error that it holds.
fn held<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(error) = link.downcast_ref::<std::io::Error>() {
        return error.get_ref().map(|error| error as _);
    }
    let held = pointee::<std::io::Error>(link).or_else(|| pointee::<TimedOut>(link));
    #[cfg(feature = "tokio")]
    let held = held.or_else(|| pointee::<tokio::time::error::Elapsed>(link));
    held.or_else(|| dyn_pointee(link))
}

/// The error behind a link that is a pointer to a `T`.
fn pointee<'e, T: Error + 'static>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    if let Some(pointer) = link.downcast_ref::<Arc<T>>() {
        return Some(&**pointer);
    }
    link.downcast_ref::<Box<T>>().map(|pointer| &**pointer as _)
}

/// The error behind a link that is a pointer to an error of any type.
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
