//! Error responses of HTTP servers, as errors.
//!
//! The modules [`reqwest012`](crate::reqwest012) and [`reqwest013`](crate::reqwest013) have a `ClientError` each, which is
//! [`ClientError`] with reqwest's own error, and re-export [`ResponseExt`].

mod client_error;
mod error_for_response;
mod error_response;

pub use client_error::ClientError;
pub use error_for_response::{ErrorForResponse, ResponseExt};
pub use error_response::ErrorResponse;

pub(crate) use error_for_response::Response;

/// Forwards [`RetryInfo`](trait@retry_core::RetryInfo) to the field `verdict`.
macro_rules! forward_to_verdict {
    ($name:ident $(<$param:ident>)?) => {
        impl $(<$param>)? retry_core::ErrorInfo for $name $(<$param>)? {
            fn fault(&self) -> retry_core::ErrorFault {
                self.verdict.fault()
            }
        }

        impl $(<$param>)? retry_core::RetryInfo for $name $(<$param>)? {
            fn is_retry_safe(&self) -> retry_core::RetrySafety {
                self.verdict.is_retry_safe()
            }

            fn is_throttle(&self) -> bool {
                self.verdict.is_throttle()
            }

            fn is_timeout(&self) -> bool {
                self.verdict.is_timeout()
            }

            fn is_conflict(&self) -> bool {
                self.verdict.is_conflict()
            }

            fn retry_after(&self) -> Option<std::time::Duration> {
                self.verdict.retry_after()
            }
        }
    };
}
use forward_to_verdict;
