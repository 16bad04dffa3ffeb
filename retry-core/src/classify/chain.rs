//! Errors within errors: what the first link means that somebody knows.
//!
//! For errors whose own type says nothing, such as a `Box<dyn Error>` or the error of an HTTP client.

use super::{Classification, io};
use std::error::Error;
use std::io::ErrorKind;

/// How many links are looked at. Real chains have a handful; one that leads back into itself has no end.
const MAX_LINKS: usize = 64;

/// What the first link of a chain means that `known` has an answer for, or `None` if it has none for any.
///
/// The first link is the error itself, the next one its [source](Error::source), and so on. An I/O error is
/// followed by the error in it, which `source` steps over. No more than 64 links are looked at.
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
/// let verdict = chain::first_known(&*error, |link| {
///     link.downcast_ref::<Answered>().map(|answered| http::status(answered.status))
/// });
/// assert_eq!(verdict, Some(http::status(502)));
/// ```
pub fn first_known(
    error: &(dyn Error + 'static),
    known: impl FnMut(&(dyn Error + 'static)) -> Option<Classification>,
) -> Option<Classification> {
    std::iter::successors(Some(error), |link| next(*link)).take(MAX_LINKS).find_map(known)
}

/// What the first I/O error of a chain means, by [its kind](super::io), or `None` if there is none.
///
/// One of the kind [`Other`](ErrorKind::Other) around another error is no more than a wrapper. It has a say only where
/// no other I/O error is found.
///
/// ```
/// use retry_core::RetrySafety;
/// use retry_core::classify::chain;
/// use std::io::{Error, ErrorKind};
///
/// let error = Error::other(Error::from(ErrorKind::ConnectionRefused));
/// assert_eq!(chain::io(&error).map(|verdict| verdict.is_retry_safe()), Some(RetrySafety::Yes));
/// ```
pub fn io(error: &(dyn Error + 'static)) -> Option<Classification> {
    let mut wrapper = None;
    let verdict = first_known(error, |link| {
        let link = link.downcast_ref::<std::io::Error>()?;
        if link.kind() == ErrorKind::Other && link.get_ref().is_some() {
            wrapper = wrapper.or(Some(io::error(link)));
            return None;
        }
        Some(io::error(link))
    });
    verdict.or(wrapper)
}

fn next<'e>(link: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    // The source of an I/O error is that of the error in it.
    if let Some(inner) = link.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        return Some(inner);
    }
    link.source()
}
