//! The errors of reqwest 0.13.
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

use crate::ClientPolicy;
use reqwest::Error;
use retry_core::classify::{Classification, chain};
use retry_core::{ErrorFault, RetrySafety};
use std::io;

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
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

/// Classifies a link of a chain that is an error of reqwest. For any other link it returns `None`.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    link.downcast_ref().map(classify)
}

/// Returns the policy for functions that return reqwest's own error.
pub const fn policy() -> ClientPolicy<Error> {
    ClientPolicy::new(classify)
}

/// Recognizes TLS errors, which rustls reports as invalid data. A certificate that was refused once is refused again.
fn tls_failed(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<io::Error>()?;
    (error.kind() == io::ErrorKind::InvalidData).then_some(Classification::new(RetrySafety::No))
}

/// Recognizes a response that was cut short. It is an error of hyper, even while the body is read. Reqwest reports it
/// as a decoding error, as it does for JSON that can't be parsed, but the latter has no hyper error as its source.
/// (Hyper's user errors are those of the request body.)
fn cut_short(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    let error = link.downcast_ref::<hyper::Error>()?;
    (!error.is_user()).then_some(Classification::new(RetrySafety::Maybe).with_fault(ErrorFault::Server))
}
