//! The errors of the client in hyper-util 0.1, `hyper_util::client::legacy`.
//!
//! | first question answered with yes | safe | timeout | fault |
//! |---|---|---|---|
//! | Did TLS fail while connecting, because of a bad certificate for example? | no | | other |
//! | Was the client still connecting ([`is_connect`](Error::is_connect))? This includes name resolution. | yes | if it timed out | other |
//! | Did the server refuse the request by `REFUSED_STREAM` of HTTP/2? | yes | | server |
//! | Is it an error of hyper? | as in [`hyper1`] |||
//! | Any other error, such as a URI without a host | no | | other |
//!
//! A URI whose scheme the connector does not support is a failure to connect, too, and is retried without success.
//!
//! ```
//! use hyper_util::client::legacy::Error;
//! use retry_clients::hyper_util01;
//! use retry_core::{PatientRetryStrategy, retryable};
//!
//! static API: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = API, policy = hyper_util01::policy().idempotent(true))]
//! async fn is_up(path: &str) -> Result<bool, Error> {
//!     // One attempt: `client.get(uri(path)).await?.status().is_success()`.
//! #   Ok(!path.is_empty())
//! }
//! ```

use crate::http::ResponsePolicy;
use crate::{connect, hyper1, refused};
use hyper_util::client::legacy::Error;
use retry_core::classify::{Classification, chain};
use retry_core::{ChainPolicy, RetrySafety};

crate::client_error::of_client!("the client in hyper-util", Error);

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
    if error.is_connect() {
        connect::classify(error)
    } else {
        chain::first_known(error, refused::link).unwrap_or(Classification::new(RetrySafety::No))
    }
}

/// Classifies an error of hyper-util's client or a [`ClientError`] that is a link of a chain, for [`ChainPolicy::also`], and an error of
/// [hyper](hyper1), which response bodies return. Returns `None` for any other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    link.downcast_ref()
        .map(classify)
        .or_else(|| link.downcast_ref().map(ClientError::classification))
        .or_else(|| hyper1::link(link))
}

/// Returns a [`ChainPolicy`] that knows the errors of hyper-util's client, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}

/// Returns the [policy](ResponsePolicy) for the outcome of a request, where an error status is an `Ok`: for a layer of
/// `tower` around hyper-util's client. It knows the errors of that client, by [`link`].
pub const fn response_policy<K>() -> ResponsePolicy<K> {
    ResponsePolicy::new().also(link)
}
