//! What the errors of reqwest mean for a retry.
//!
//! Copy this file into a program that uses reqwest 0.13. It needs the crate `hyper`, which reqwest is built on.
//!
//! | question, in this order | safe | timeout | fault |
//! |---|---|---|---|
//! | Did TLS fail while connecting, because of a bad certificate for example? | no | | other |
//! | Was the client still connecting? A failed name resolution is one of these. | yes | if it was one | other |
//! | Was it a timeout? | maybe | yes | other |
//! | Was there a status, by `error_for_status`? | by the status | | |
//! | Did the connection break, or the response break off? | maybe | | server |
//! | Did the request fail in another way? | maybe | | other |
//! | Anything else, such as JSON that can't be parsed or an invalid URL | no | | other |
//!
//! The second row relies on a client that follows no redirects (`redirect::Policy::none()`): otherwise the client may have been
//! connecting to the target of a redirect, after another server had acted upon the request.

use retry_core::classify::{Classification, chain};
use retry_core::{ErrorFault, RetrySafety};
use std::error::Error;
use std::io;

/// Returns what an error of reqwest means, for a field under `#[retry(with = reqwest_errors::judge)]`.
pub fn judge(error: &reqwest::Error) -> Classification {
    let verdict = if error.is_connect() {
        // Nothing was sent yet.
        chain::first_known(error, tls_failed).unwrap_or(Classification::new(RetrySafety::Yes))
    } else if error.is_timeout() {
        Classification::new(RetrySafety::Maybe)
    } else if let Some(status) = error.status() {
        status.into()
    } else if let Some(verdict) = chain::first_known(error, broke_off) {
        verdict
    } else if error.is_request() {
        Classification::new(RetrySafety::Maybe)
    } else {
        Classification::new(RetrySafety::No)
    };
    // A connection can time out, too.
    if error.is_timeout() { verdict.with_timeout() } else { verdict }
}

/// A certificate that was refused is refused again. Rustls reports its errors as invalid data.
fn tls_failed(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<io::Error>()?;
    (error.kind() == io::ErrorKind::InvalidData).then_some(Classification::new(RetrySafety::No))
}

/// A response that breaks off is an error of hyper, even while its body is read. There reqwest reports a decoding error, as
/// it does for JSON that can't be parsed, which is none of hyper's. (Hyper's user errors are those of the request body.)
fn broke_off(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<hyper::Error>()?;
    (!error.is_user()).then_some(Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server))
}
