//! The errors of hyper 1. With hyper-util, they are the errors of response bodies.
//!
//! | first question answered with yes | safe | timeout | fault | why |
//! |---|---|---|---|---|
//! | Did the request's own body fail, or was hyper misused (`is_user`)? | maybe | | other | a part of the request may have been sent |
//! | Was it a timeout, of hyper or of the socket? | maybe | yes | other | the request may have been acted upon |
//! | Any other error: the connection broke, or the response was cut short or is not HTTP | maybe | | server | the request may have been acted upon |
//!
//! ```
//! use retry_clients::hyper1;
//! use retry_core::RetryInfo;
//!
//! #[derive(Debug, RetryInfo)]
//! enum ReadError {
//!     /// The body of the response broke off.
//!     Body(#[retry(with = hyper1::classify)] hyper::Error),
//!     #[retry(throttling)]
//!     TooManyRequests,
//! }
//! ```

use hyper::Error;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};
use std::io;

crate::client_error::of_client!("hyper", Error);

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
    let maybe = Classification::new(RetrySafety::Maybe);
    if error.is_user() {
        maybe
    } else if error.is_timeout() || chain::first_known(error, socket_timeout).is_some() {
        maybe.with_timeout()
    } else {
        maybe.with_fault(ErrorFault::Server)
    }
}

/// Classifies an error of hyper or a [`ClientError`] that is a link of a chain, for [`ChainPolicy::also`]. Returns `None` for any other
/// link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    link.downcast_ref().map(classify).or_else(|| link.downcast_ref().map(ClientError::classification))
}

/// Returns a [`ChainPolicy`] that knows the errors of hyper, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}

fn socket_timeout(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<io::Error>()?;
    (error.kind() == io::ErrorKind::TimedOut).then_some(Classification::new(RetrySafety::Maybe))
}
