//! Requests of HTTP/2 that a server refused.

use crate::hyper1;
use h2::Reason;
use retry_core::classify::Classification;
use retry_core::{ErrorFault, RetrySafety};
use std::error::Error;

/// Classifies an error with which a request failed before there was a response, as [`hyper1::link`] does. A stream that the
/// server refused by `REFUSED_STREAM` was not processed (RFC 9113, 8.7), so a retry is safe.
///
/// A stream that a `GOAWAY` excludes was not processed either. But hyper has the same error for a stream that the `GOAWAY` does
/// not exclude, if it arrives just after the request was sent. Only the first error of hyper in a chain is that of the request:
/// below it, there can be an error of a body that the request passes on from another server.
pub(crate) fn link(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<hyper::Error>().filter(|it| !it.is_user());
    if error.and_then(Error::source).is_some_and(is_refused) {
        return Some(Classification::new(RetrySafety::Yes).with_fault(ErrorFault::Server));
    }
    hyper1::link(link)
}

fn is_refused(source: &(dyn Error + 'static)) -> bool {
    let error = source.downcast_ref::<h2::Error>();
    error.is_some_and(|it| it.is_reset() && it.is_remote() && it.reason() == Some(Reason::REFUSED_STREAM))
}
