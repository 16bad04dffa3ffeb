//! The errors of reqwest-middleware 0.5, which works with reqwest 0.13.
//!
//! Its error hides the error inside from a chain of sources, so the policy of [`reqwest013`] finds only the sources of that
//! error. A timeout, a status and an unknown host, for example, have no source that tells what they are, and are not
//! retried. The functions of this module look inside:
//!
//! | error | classification |
//! |---|---|
//! | `Error::Reqwest` | by the table of [`reqwest013`] |
//! | `Error::Middleware`, around an error of reqwest or reqwest-middleware | as that error |
//! | `Error::Middleware`, around an error that retry-core knows | by the table of [`chain`] |
//! | `Error::Middleware`, around any other error | by the sources of that error |
//!
//! # Use
//!
//! ```
//! use reqwest_middleware::ClientWithMiddleware;
//! use retry_clients::reqwest_middleware05;
//! use retry_core::{StandardRetryStrategy, retryable};
//!
//! static API: StandardRetryStrategy = StandardRetryStrategy::new();
//!
//! #[retryable(strategy = API, policy = reqwest_middleware05::policy().idempotent(true))]
//! async fn get(http: &ClientWithMiddleware, url: &str) -> reqwest_middleware::Result<String> {
//!     Ok(http.get(url).send().await?.error_for_status()?.text().await?)
//! }
//! ```
//!
//! An error of your own middleware is classified by one more line. It is hidden as well, so the function gets the error
//! around it:
//!
//! ```
//! use reqwest_middleware::Error;
//! use retry_clients::reqwest_middleware05;
//! use retry_core::classify::Classification;
//! use retry_core::{ChainPolicy, RetryInfo};
//! # use std::fmt;
//!
//! #[derive(Debug, RetryInfo)]
//! #[retry(throttling)]
//! struct TokenIsBusy;
//! # impl fmt::Display for TokenIsBusy {
//! #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result { f.write_str("the token is busy") }
//! # }
//! # impl std::error::Error for TokenIsBusy {}
//!
//! const POLICY: ChainPolicy = reqwest_middleware05::policy().also(|link| match link.downcast_ref()? {
//!     Error::Middleware(error) => error.downcast_ref::<TokenIsBusy>().map(Classification::of),
//!     Error::Reqwest(_) => None,
//! });
//! # use retry_core::{RetryDirective, RetryErrorType};
//! # let error: Box<dyn std::error::Error> = Box::new(Error::middleware(TokenIsBusy));
//! # assert_eq!(POLICY.evaluate_error(&error), RetryDirective::retry(RetryErrorType::Throttling));
//! ```
//!
//! Leave the middleware of the crate `reqwest-retry` out, because its retries multiply with those of the operation.

use crate::reqwest013;
use reqwest_middleware::Error;
use retry_core::ChainPolicy;
use retry_core::classify::{Classification, chain};

/// Classifies an error by the [table](self). Returns `None` if no error in it is known.
pub fn classify(error: &Error) -> Option<Classification> {
    chain::first_known(error, |error| link(error).or_else(|| chain::link(error)))
}

/// Classifies an error of reqwest-middleware, or a link that [`reqwest013::link`] knows, for [`ChainPolicy::also`].
/// Returns `None` for any other link.
pub fn link(link: &(dyn std::error::Error + 'static)) -> Option<Classification> {
    match link.downcast_ref() {
        Some(Error::Reqwest(error)) => Some(reqwest013::classify(error)),
        Some(Error::Middleware(error)) => self::link(&**error).or_else(|| chain::link(&**error)),
        None => reqwest013::link(link),
    }
}

/// Returns a [`ChainPolicy`] that knows the errors of reqwest-middleware and of reqwest, by [`link`].
pub const fn policy<K>() -> ChainPolicy<K> {
    ChainPolicy::new().also(link)
}
