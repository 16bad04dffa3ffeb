//! What the errors of the store mean.

use retry_core::{ErrorFault, ErrorInfo, RetryInfo};
use std::error::Error;
use std::fmt;

/// An error of the store.
///
/// It implements [`RetryInfo`], so that users who retry around the client need to say nothing about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The store is overloaded, and did nothing.
    SlowDown,
    /// The connection broke before the answer. The store may have carried out the request.
    Disconnected,
    /// There is no such key.
    NotFound,
}

impl ErrorInfo for StoreError {
    fn fault(&self) -> ErrorFault {
        match self {
            Self::SlowDown | Self::Disconnected => ErrorFault::Server,
            Self::NotFound => ErrorFault::Client,
        }
    }
}

impl RetryInfo for StoreError {
    fn is_throttle(&self) -> bool {
        *self == Self::SlowDown
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SlowDown => "the store is overloaded",
            Self::Disconnected => "the connection to the store broke",
            Self::NotFound => "there is no such key",
        })
    }
}

impl Error for StoreError {}
