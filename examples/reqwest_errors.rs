//! Classifies the errors of reqwest for retries.
//!
//! Copy this file into a program that uses reqwest 0.13. It also needs the crate `hyper`, on which reqwest is built.
//!
//! | first question answered with yes | safe | timeout | fault |
//! |---|---|---|---|
//! | Did TLS fail while connecting, because of a bad certificate for example? | no | | other |
//! | Was the client still connecting? This includes name resolution. | yes | if it timed out | other |
//! | Was it a timeout? | maybe | yes | other |
//! | Was there a status, by `error_for_status`? | by the status | | |
//! | Did the connection break, or was the response cut short? | maybe | | server |
//! | Did the request fail in another way? | maybe | | other |
//! | Any other error, such as JSON that can't be parsed or an invalid URL | no | | other |
//!
//! The second row requires a client that follows no redirects (`redirect::Policy::none()`). Otherwise the client may
//! have been connecting to the target of a redirect, after another server had acted upon the request.

use retry_core::classify::{Classification, chain};
use retry_core::{ErrorFault, RetrySafety};
use std::error::Error;
use std::io;

/// Classifies an error of reqwest. Use it on a field: `#[retry(with = reqwest_errors::judge)]`.
pub fn judge(error: &reqwest::Error) -> Classification {
    let verdict = if error.is_connect() {
        // Nothing was sent yet.
        chain::first_known(error, tls_failed).unwrap_or(Classification::new(RetrySafety::Yes))
    } else if error.is_timeout() {
        Classification::new(RetrySafety::Maybe)
    } else if let Some(status) = error.status() {
        status.into()
    } else if let Some(verdict) = chain::first_known(error, cut_short) {
        verdict
    } else if error.is_request() {
        Classification::new(RetrySafety::Maybe)
    } else {
        Classification::new(RetrySafety::No)
    };
    // A connection attempt can time out, too.
    if error.is_timeout() { verdict.with_timeout() } else { verdict }
}

/// Recognizes TLS errors, which rustls reports as invalid data. A certificate that was refused once is refused again.
fn tls_failed(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<io::Error>()?;
    (error.kind() == io::ErrorKind::InvalidData).then_some(Classification::new(RetrySafety::No))
}

/// Recognizes a response that was cut short. It is an error of hyper, even while the body is read. Reqwest reports it
/// as a decoding error, as it does for JSON that can't be parsed, but the latter has no hyper error as its source.
/// (Hyper's user errors are those of the request body.)
fn cut_short(link: &(dyn Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<hyper::Error>()?;
    (!error.is_user()).then_some(Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server))
}
