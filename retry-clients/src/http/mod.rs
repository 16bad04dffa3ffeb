//! What HTTP clients have in common: the policy for responses, and error responses as errors.
//!
//! The modules [`reqwest012`](crate::reqwest012) and [`reqwest013`](crate::reqwest013) have a `ClientError` each, which is
//! [`ClientError`](crate::ClientError) with reqwest's own error and with an [`ErrorResponse`], and re-export [`ResponseExt`].
//!
//! ```
//! use retry_clients::http::ResponsePolicy;
//! use retry_core::classify::chain::Owner;
//!
//! // For requests that may be executed twice, by a client whose errors are of any type.
//! const READS: ResponsePolicy<Owner> = ResponsePolicy::new().idempotent(true);
//! ```

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod error_for_response;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod error_response;
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
mod request_error;
mod response_policy;

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub use error_for_response::{ErrorForResponse, ResponseExt};
#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub use error_response::ErrorResponse;
pub use response_policy::ResponsePolicy;

#[cfg(any(feature = "reqwest012", feature = "reqwest013"))]
pub(crate) use error_for_response::Response;
pub(crate) use response_policy::Answer;
