//! Error responses of HTTP servers, as errors.
//!
//! The modules [`reqwest012`](crate::reqwest012) and [`reqwest013`](crate::reqwest013) have a `ClientError` each, which is
//! [`ClientError`](crate::ClientError) with reqwest's own error and with an [`ErrorResponse`], and re-export [`ResponseExt`].

mod error_for_response;
mod error_response;
mod request_error;

pub use error_for_response::{ErrorForResponse, ResponseExt};
pub use error_response::ErrorResponse;

pub(crate) use error_for_response::Response;
