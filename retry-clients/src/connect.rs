//! The classification of errors that occur while a client connects.

use retry_core::RetrySafety;
use retry_core::classify::{Classification, chain};
use std::error::Error;
use std::io;

/// Classifies an error that occurred while connecting: nothing was sent yet, so a retry is safe, unless TLS failed.
pub(crate) fn classify<E: Error + 'static>(error: &E) -> Classification {
    chain::first_known(error, known).unwrap_or(UNSENT)
}

const UNSENT: Classification = Classification::new(RetrySafety::Yes);

fn known(link: &(dyn Error + 'static)) -> Option<Classification> {
    match link.downcast_ref::<io::Error>()?.kind() {
        // Rustls reports that TLS failed. A certificate that was rejected once is rejected again.
        io::ErrorKind::InvalidData => Some(Classification::new(RetrySafety::No)),
        io::ErrorKind::TimedOut => Some(UNSENT.with_timeout()),
        _ => None,
    }
}
