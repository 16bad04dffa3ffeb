//! The policy for clients that return an error status as `Ok`.

use super::response;
use http::{HeaderMap, Method, StatusCode};
use retry_core::classify::Classification;
use retry_core::classify::chain::{ErrorLike, Owner};
use retry_core::classify::http::idempotent_method;
use retry_core::{ChainPolicy, RetryDirective, RetryPolicy, StandardRetryPolicy};
use std::error::Error;
use std::fmt;
use std::time::SystemTime;

/// The policy for the outcome of one HTTP request, for clients that return a response with an error status as `Ok`: those
/// built on `tower`, and reqwest's `send`.
///
/// A status below 400 is a success. Any other response is classified by its status and headers, as by
/// [`http::response`](super::response), and an error by its chain of sources, as by a
/// [`ChainPolicy`].
///
/// The modules of clients have a `response_policy` that knows the client's errors. Whether a request may be executed twice
/// depends on its method, so a layer makes the policy of each request:
///
/// ```
/// # #[cfg(feature = "reqwest013")]
/// # mod example {
/// use reqwest::Request;
/// use retry_clients::reqwest013;
/// use retry_core::PatientRetryStrategy;
/// use retry_tower::RetryLayer;
/// # use reqwest::Client;
/// # use tower_layer::Layer;
/// # use tower_service::Service;
/// # fn is_service(_: impl Service<Request>) {}
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
///
/// # fn example() {
/// let layer = RetryLayer::new(&API)
///     .policy_with(|request: &Request| reqwest013::response_policy().for_method(request.method()))
///     .clone_with(Request::try_clone);
/// # is_service(layer.layer(Client::new()));
/// # }
/// # }
/// ```
///
/// `K` is the kind of the error type, as in a [`ChainPolicy`].
pub struct ResponsePolicy<K = Owner> {
    errors: ChainPolicy<K>,
    responses: StandardRetryPolicy,
    classify: fn(StatusCode, &HeaderMap, SystemTime) -> Classification,
}

impl<K> ResponsePolicy<K> {
    /// Creates a policy that knows the errors in the table of [`chain`](retry_core::classify::chain), for a request that may
    /// or may not be idempotent.
    pub const fn new() -> Self {
        Self { errors: ChainPolicy::new(), responses: StandardRetryPolicy::new(), classify: response }
    }

    /// Adds a function that classifies more kinds of errors; see [`ChainPolicy::also`].
    ///
    /// # Panics
    ///
    /// Panics if a ninth function is added.
    #[must_use]
    pub const fn also(mut self, link: fn(&(dyn Error + 'static)) -> Option<Classification>) -> Self {
        self.errors = self.errors.also(link);
        self
    }

    /// Sets a function that classifies each response with a status of 400 or above, by its status, its headers and the current
    /// time, in place of [`http::response`](super::response).
    ///
    /// For services that say whether to retry by a header, use [`http::advised_response`](super::advised_response):
    ///
    /// ```
    /// use retry_clients::http::{ResponsePolicy, advised_response};
    ///
    /// const PAYMENTS: ResponsePolicy = ResponsePolicy::new().classify_with(advised_response);
    /// ```
    ///
    /// A layer can't read the body, so a code in the body is ignored. For services of
    /// [language models](crate::llm), this policy reads their headers, such as `x-should-retry`:
    ///
    /// ```
    /// use retry_clients::http::ResponsePolicy;
    /// use retry_clients::llm;
    ///
    /// const MODEL: ResponsePolicy =
    ///     ResponsePolicy::new()
    ///         .classify_with(|status, headers, now| llm::response(status, headers, None, now));
    /// ```
    #[must_use]
    pub const fn classify_with(mut self, classify: fn(StatusCode, &HeaderMap, SystemTime) -> Classification) -> Self {
        self.classify = classify;
        self
    }

    /// Sets whether the request is idempotent, as [`StandardRetryPolicy::idempotent`] does.
    #[must_use]
    pub const fn idempotent(mut self, idempotent: bool) -> Self {
        self.errors = self.errors.idempotent(idempotent);
        self.responses = self.responses.idempotent(idempotent);
        self
    }

    /// Sets whether the request is idempotent by its method: GET, HEAD, OPTIONS, TRACE, PUT, DELETE and QUERY are, and all
    /// others are not; see [`idempotent_method`].
    #[must_use]
    pub fn for_method(self, method: &Method) -> Self {
        self.idempotent(idempotent_method(method.as_str()))
    }

    /// Returns the directive for a response. Use this in a policy that handles some outcomes itself.
    pub fn evaluate_response(&self, answer: &impl Answer) -> RetryDirective {
        if answer.status().as_u16() < 400 {
            return RetryDirective::succeed();
        }
        self.responses.evaluate_error(&(self.classify)(answer.status(), answer.headers(), SystemTime::now()))
    }

    /// Returns the directive for an error. Use this in a policy that handles some outcomes itself.
    pub fn evaluate_error<E: ErrorLike<K>>(&self, error: &E) -> RetryDirective {
        self.errors.evaluate_error(error)
    }
}

impl<T: Answer, E: ErrorLike<K>, K> RetryPolicy<Result<T, E>> for ResponsePolicy<K> {
    fn evaluate(&self, outcome: &Result<T, E>) -> RetryDirective {
        match outcome {
            Ok(response) => self.evaluate_response(response),
            Err(error) => self.evaluate_error(error),
        }
    }

    fn unknown_error<'o>(&self, outcome: &'o Result<T, E>) -> Option<&'o (dyn Error + 'static)> {
        self.errors.unknown_error(outcome)
    }

    fn is_idempotent(&self) -> Option<bool> {
        RetryPolicy::<Result<T, E>>::is_idempotent(&self.errors)
    }
}

impl<K> Default for ResponsePolicy<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for ResponsePolicy<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for ResponsePolicy<K> {}

impl<K> fmt::Debug for ResponsePolicy<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponsePolicy").field("errors", &self.errors).finish_non_exhaustive()
    }
}

/// The head of a response. It seals the outcomes of [`ResponsePolicy`].
#[expect(unnameable_types, reason = "a seal")]
pub trait Answer {
    /// Returns the status.
    fn status(&self) -> StatusCode;

    /// Returns the headers.
    fn headers(&self) -> &HeaderMap;
}

/// Responses that have these methods themselves.
macro_rules! answer {
    ($([$($parameter:ident)?] $response:ty),+) => {$(
        impl<$($parameter)?> $crate::http::Answer for $response {
            fn status(&self) -> http::StatusCode {
                self.status()
            }

            fn headers(&self) -> &http::HeaderMap {
                self.headers()
            }
        }
    )+};
}

answer!([B] http::Response<B>);
#[cfg(feature = "reqwest013")]
answer!([] reqwest::Response);
#[cfg(feature = "reqwest012")]
answer!([] reqwest012::Response);
