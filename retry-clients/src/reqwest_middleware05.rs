//! A middleware for reqwest-middleware 0.5, which works with reqwest 0.13, and its errors.
//!
//! # One line for a client
//!
//! With [`RetryMiddleware`], all requests of a client are retried, and the code that makes them does not change:
//!
//! ```
//! use reqwest_middleware::ClientBuilder;
//! use retry_clients::reqwest_middleware05::RetryMiddleware;
//! use retry_core::PatientRetryStrategy;
//!
//! static API: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! # fn client(reqwest: reqwest::Client) -> reqwest_middleware::ClientWithMiddleware {
//! ClientBuilder::new(reqwest).with(RetryMiddleware::new(&API)).build()
//! # }
//! ```
//!
//! - **Method.** A request that may have been acted upon is sent again if its method is idempotent, as GET and PUT are, and
//!   not if it is a POST or a PATCH. A request that was not acted upon, for example after a 429, is sent again whatever its
//!   method is. [`policy_with`](RetryMiddleware::policy_with) replaces this rule, for example by a check for an
//!   idempotency key, which [`before_attempt`](RetryMiddleware::before_attempt) can add.
//! - **Outcome.** The caller gets the last response, whatever its status, as from reqwest. `error_for_status`, or
//!   [`error_for_response`](reqwest013::ResponseExt), turns it into an error.
//! - **Waits.** A retry waits at least as long as a `Retry-After` asks for.
//! - **Request body.** A request whose body is a stream can't be cloned, and is sent once.
//! - **Response body.** It is read as part of the attempt if its length is known and at most 64 KiB, so that a request is sent
//!   again if its answer breaks off. [`read_bodies`](RetryMiddleware::read_bodies) changes that.
//! - **Other middleware.** Middleware that is added after it runs in each attempt, and middleware that is added before it
//!   sees one request.
//! - **Time.** `timeout` of reqwest's `ClientBuilder` limits each attempt, and [`max_time`](RetryMiddleware::max_time) the
//!   whole request.
//!
//! Retries in layers multiply. So remove the middleware of the crate `reqwest-retry`, set `retry(reqwest::retry::never())`
//! on reqwest's client, and don't call the client in a `#[retryable]` function.
//!
//! # Errors
//!
//! The error of reqwest-middleware hides the error inside it from a chain of sources, so the policy of [`reqwest013`] finds
//! only the sources of the inner error. A timeout, a status and an unknown host, for example, have no source that identifies
//! them, and are not retried. The functions of this module look inside:
//!
//! | error | classification |
//! |---|---|
//! | `Error::Reqwest` | by the table of [`reqwest013`] |
//! | `Error::Middleware`, around an error of reqwest or reqwest-middleware | as that error |
//! | `Error::Middleware`, around an error that retry-core knows | by the table of [`chain`] |
//! | `Error::Middleware`, around any other error | by the sources of that error |
//!
//! # In a retried function
//!
//! Without the middleware, a function sends the requests, and its attempt includes the handling of the answer:
//!
//! ```
//! use reqwest_middleware::ClientWithMiddleware;
//! use retry_clients::reqwest_middleware05;
//! use retry_core::{PatientRetryStrategy, retryable};
//!
//! static API: PatientRetryStrategy = PatientRetryStrategy::new();
//!
//! #[retryable(strategy = API, policy = reqwest_middleware05::policy().idempotent(true))]
//! async fn get(http: &ClientWithMiddleware, url: &str) -> reqwest_middleware::Result<String> {
//!     Ok(http.get(url).send().await?.error_for_status()?.text().await?)
//! }
//! ```
//!
//! The error of your own middleware is classified by one more line. It is hidden as well, so the function gets the
//! error around it:
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
//! #     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
//! #         f.write_str("the token is busy")
//! #     }
//! # }
//! # impl std::error::Error for TokenIsBusy {}
//!
//! const POLICY: ChainPolicy = reqwest_middleware05::policy().also(|link| {
//!     match link.downcast_ref()? {
//!         Error::Middleware(error) => error.downcast_ref::<TokenIsBusy>().map(Classification::of),
//!         Error::Reqwest(_) => None,
//!     }
//! });
//! # use retry_core::{RetryDirective, RetryErrorType};
//! # let error: Box<dyn std::error::Error> = Box::new(Error::middleware(TokenIsBusy));
//! # assert_eq!(POLICY.evaluate_error(&error), RetryDirective::retry(RetryErrorType::Throttling));
//! ```

mod body;
mod middleware;

pub use middleware::RetryMiddleware;

use crate::http::ResponsePolicy;
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

/// Returns the [policy](ResponsePolicy) for the outcome of a request, where an error status is an `Ok`: for a layer of
/// `tower` around a client with middleware. It knows the errors of reqwest-middleware and of reqwest, by [`link`].
pub const fn response_policy<K>() -> ResponsePolicy<K> {
    ResponsePolicy::new().also(link)
}
