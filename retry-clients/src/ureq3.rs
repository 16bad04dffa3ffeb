//! The errors of ureq 3.
//!
//! | error | safe | timeout | fault | why |
//! |---|---|---|---|---|
//! | `Timeout` of `Resolve` or `Connect` | yes | yes | other | nothing was sent |
//! | any other `Timeout` | maybe | yes | other | the request may have been acted upon; a total timeout does not say what ureq was doing |
//! | `HostNotFound`, `ConnectionFailed`, `ConnectProxyFailed` | yes | | other | nothing was sent |
//! | `Io` of a failed name resolution | yes | | other | nothing was sent |
//! | `StatusCode` | as in [`http`] ||||
//! | `Io` | as in [`io`]: a refused connection is a *yes*, a broken one or a response that was cut short a *maybe* ||||
//! | `Io` of the kind `InvalidData`: TLS failed, because of a bad certificate for example | no | | other | the same certificate is refused again |
//! | `Io` of any other kind that is not in [`io`] | no | | other | the same request fails again |
//! | `Json`, if reading failed | as `Io`, else *maybe* || other | with `read_json`, a chunked response that was cut short is such an error; one that timed out does not look like a timeout |
//! | `Json` otherwise | no | | other | the response was complete and can't be parsed |
//! | `Protocol` whose text begins with `http parse` | maybe | | server | the answer is not HTTP, but the request may have been acted upon |
//! | `Protocol` otherwise | maybe | | other | the answer or the request is at fault: two different `content-length` are the same error in both |
//! | any other | no | | other | the same request fails again |
//!
//! Observed with ureq 3.5.1 and rustls against servers on the loopback interface, by `tests/clients/ureq3.rs`. The rows
//! of `HostNotFound`, `ConnectionFailed` and `ConnectProxyFailed` come from the docs of ureq.
//!
//! - **Name resolution.** Ureq returns the I/O error of the resolver, which has no separate kind. It is recognized by
//!   the message of the standard library. The error of your own resolver may have another message, and is then not
//!   retried.
//! - **TLS.** A connection that was closed in the handshake is a *maybe*, because a compressed body that was cut short can be the
//!   same error.
//! - **Redirects.** Ureq follows them. Then a failure to resolve or to connect may be that of the target of a redirect, after the first
//!   server has acted upon the request. Where that matters, set `max_redirects(0)`.
//! - **Retry-After.** `StatusCode` has no headers. To keep them, set `http_status_as_error(false)` and classify the
//!   response by [`http::response`], as below. (There is no `error_for_response` for ureq: it would keep the URL, and
//!   `get_uri` panics for a response that is not ureq's own.)
//! - **Retries.** Ureq does not retry.
//!
//! ```
//! use retry_clients::{http, ureq3};
//! use retry_core::classify::Classification;
//! use retry_core::{PatientRetryStrategy, RetryInfo, retryable};
//! use std::time::SystemTime;
//!
//! #[derive(Debug, RetryInfo)]
//! enum ApiError {
//!     #[retry(transparent)]
//!     Answered(Classification),
//!     Failed(#[retry(with = ureq3::classify)] ureq::Error),
//! }
//!
//! impl From<ureq::Error> for ApiError {
//!     fn from(error: ureq::Error) -> Self {
//!         Self::Failed(error)
//!     }
//! }
//!
//! static API: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = API, idempotent, blocking)]
//! fn get(agent: &ureq::Agent, url: &str) -> Result<String, ApiError> {
//!     let mut response = agent.get(url).config().http_status_as_error(false).build().call()?;
//!     if response.status().as_u16() >= 400 {
//!         let (status, headers) = (response.status(), response.headers());
//!         return Err(ApiError::Answered(http::response(status, headers, SystemTime::now())));
//!     }
//!     Ok(response.body_mut().read_to_string()?)
//! }
//! ```
//!
//! [`http`]: retry_core::classify::http
//! [`http::response`]: crate::http::response
//! [`io`]: retry_core::classify::io

use crate::resolve;
use retry_core::classify::{Classification, http, io};
use retry_core::{ChainPolicy, ErrorFault, RetrySafety};
use ureq::{Error, Timeout};

crate::client_error::of_client!("ureq", Error);

/// Classifies an error by the [table](self).
pub fn classify(error: &Error) -> Classification {
    const UNSENT: Classification = Classification::new(RetrySafety::Yes);
    const UNKNOWN: Classification = Classification::new(RetrySafety::Maybe);
    const FINAL: Classification = Classification::new(RetrySafety::No);

    match error {
        Error::Timeout(Timeout::Resolve | Timeout::Connect) => UNSENT.with_timeout(),
        Error::Timeout(_) => UNKNOWN.with_timeout(),
        Error::HostNotFound | Error::ConnectionFailed | Error::ConnectProxyFailed(_) => UNSENT,
        Error::StatusCode(status) => http::status(*status),
        Error::Io(error) => io::known(error).or_else(|| resolve::link(error)).unwrap_or(FINAL),
        Error::Json(error) => match error.io_error_kind() {
            Some(kind) => io::known_kind(kind).unwrap_or(UNKNOWN),
            None => FINAL,
        },
        // The type of this error is not public in ureq. A request can't have one with this text.
        Error::Protocol(error) if error.to_string().starts_with("http parse ") => {
            UNKNOWN.with_fault(ErrorFault::Server)
        }
        Error::Protocol(_) => UNKNOWN,
        _ => FINAL,
    }
}

/// Classifies an error of ureq or a [`ClientError`] that is a link of a chain, for [`ChainPolicy::also`]. Returns `None` for any other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    link.downcast_ref().map(classify).or_else(|| link.downcast_ref().map(ClientError::classification))
}

/// Returns a [`ChainPolicy`] that knows the errors of ureq, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}
