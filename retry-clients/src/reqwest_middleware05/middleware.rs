//! The middleware that retries the requests of a client.

use super::body::Bodies;
use super::response_policy;
use crate::http::ResponsePolicy;
use http::Extensions;
use reqwest::{Request, Response};
use reqwest_middleware::{Error, Middleware, Next};
use retry_core::classify::chain::Concrete;
use retry_core::strategy::RetryStrategy;
use retry_core::{AttemptContext, RetryDirective, RetryPolicy, TimedOut};
use retry_tower::{IntoHandle, RetryLayer};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Mutex;
use tower_layer::Layer;
use tower_service::Service;

/// The length up to which the body of a response is read as part of its attempt, unless set.
const BODY_LIMIT: usize = 64 * 1024;

/// A middleware that retries the requests of a client; see the [module](super#one-line-for-a-client).
#[derive(Clone)]
pub struct RetryMiddleware<S> {
    strategy: S,
    name: &'static str,
    policy: Arc<PolicyOf>,
    change: Option<Arc<Change>>,
    max_time: Option<Duration>,
    bodies: Bodies,
}

/// A function that returns the policy of a request.
type PolicyOf = dyn Fn(&Request) -> ResponsePolicy<Concrete> + Send + Sync;

/// A function that changes the request of an attempt.
type Change = dyn Fn(&mut Request, AttemptContext) + Send + Sync;

impl<S: RetryStrategy> RetryMiddleware<S> {
    /// Creates a middleware whose requests share this strategy. Pass a reference to a static, an [`Arc`], a
    /// [`Scope`](retry_core::strategy::Scope) or an [`ErasedStrategy`](retry_core::strategy::ErasedStrategy).
    pub fn new(strategy: impl IntoHandle<Handle = S>) -> Self {
        Self {
            strategy: strategy.into_handle(),
            name: "reqwest",
            policy: Arc::new(|request| response_policy().for_method(request.method())),
            change: None,
            max_time: None,
            bodies: Bodies { limit: BODY_LIMIT, unknown: false },
        }
    }

    /// Sets a function that returns the policy of each request. The default is [`response_policy`] for the method of the request.
    ///
    /// For an API that recognizes a request by its idempotency key, and answers 404 until a new object can be read:
    ///
    /// ```
    /// use reqwest::{Request, StatusCode};
    /// use retry_clients::http;
    /// use retry_clients::reqwest_middleware05::{RetryMiddleware, response_policy};
    /// use retry_core::classify::Classification;
    /// use retry_core::classify::http::idempotent_method;
    /// use retry_core::{PatientRetryStrategy, RetrySafety};
    ///
    /// static API: PatientRetryStrategy = PatientRetryStrategy::new();
    ///
    /// let retries = RetryMiddleware::new(&API).policy_with(|request: &Request| {
    ///     let has_key = request.headers().contains_key("idempotency-key");
    ///     response_policy()
    ///         .idempotent(has_key || idempotent_method(request.method().as_str()))
    ///         .classify_with(|status, headers, now| match status {
    ///             StatusCode::NOT_FOUND => Classification::new(RetrySafety::Yes),
    ///             _ => http::response(status, headers, now),
    ///         })
    /// });
    /// ```
    #[must_use]
    pub fn policy_with(
        mut self,
        policy: impl Fn(&Request) -> ResponsePolicy<Concrete> + Send + Sync + 'static,
    ) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Sets a function that may change the request of each attempt, first attempts included, for example to add a header with
    /// an idempotency key; see [`RetryLayer::before_attempt`].
    #[must_use]
    pub fn before_attempt(mut self, change: impl Fn(&mut Request, AttemptContext) + Send + Sync + 'static) -> Self {
        self.change = Some(Arc::new(change));
        self
    }

    /// Sets the time limit of each request, all attempts and waits included. The default is no limit.
    ///
    /// If it is over before there is an outcome, the error is `Error::Middleware` around a [`TimedOut`]. For a limit on
    /// each attempt, set `timeout` on reqwest's `ClientBuilder` or on the request.
    #[must_use]
    pub fn max_time(mut self, time: Duration) -> Self {
        self.max_time = Some(time);
        self
    }

    /// Sets the number of bytes up to which the body of a response is read as part of its attempt, also if its length is
    /// not known before, as with chunks or compression. A longer body is passed on as it arrives.
    ///
    /// By default, a body is read if its length is known and at most 64 KiB. With 0, no body is read.
    ///
    /// Don't set this for a client of event streams or long polls: such a response would be held back until this much of
    /// its body has arrived.
    #[must_use]
    pub fn read_bodies(mut self, limit: usize) -> Self {
        self.bodies = Bodies { limit, unknown: limit > 0 };
        self
    }

    /// Sets the name of the requests in events. The default is `reqwest`.
    #[must_use]
    pub fn name(mut self, name: &'static str) -> Self {
        self.name = name;
        self
    }
}

impl<S: fmt::Debug> fmt::Debug for RetryMiddleware<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { strategy, name, policy: _, change: _, max_time, bodies } = self;
        f.debug_struct("RetryMiddleware")
            .field("strategy", strategy)
            .field("name", name)
            .field("max_time", max_time)
            .field("bodies", bodies)
            .finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl<S: RetryStrategy<Token: Send> + Send + Sync + 'static> Middleware for RetryMiddleware<S> {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        let policy = Policy((self.policy)(&request));
        let layer = RetryLayer::with_handle(&self.strategy)
            .name(self.name)
            .policy(policy)
            .clone_with(Request::try_clone)
            .before_attempt(|request: &mut Request, context| {
                if let Some(change) = &self.change {
                    change(request, context);
                }
            });
        let client = Rest { next, extensions: Arc::new(Mutex::new(extensions)), bodies: self.bodies };
        let outcome = match self.max_time {
            Some(time) => layer.max_time(time).layer(client).call(request).await,
            None => layer.layer(client).call(request).await,
        };
        outcome.map_err(|Failed(error)| error)
    }
}

/// The rest of the middleware and the client, as a service.
#[derive(Clone)]
struct Rest<'a> {
    next: Next<'a>,
    /// Only one attempt at a time uses them, so it never waits for the lock.
    extensions: Arc<Mutex<&'a mut Extensions>>,
    bodies: Bodies,
}

impl<'a> Service<Request> for Rest<'a> {
    type Response = Response;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Failed>> + Send + 'a>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let Self { next, extensions, bodies } = self.clone();
        Box::pin(async move {
            let mut extensions = extensions.lock().await;
            let response = next.run(request, &mut extensions).await.map_err(Failed)?;
            if response.status().as_u16() >= 400 {
                return Ok(response);
            }
            bodies.read(response).await.map_err(|error| Failed(error.into()))
        })
    }
}

/// The error of an attempt, which can be an exceeded time limit.
struct Failed(Error);

impl From<TimedOut> for Failed {
    fn from(error: TimedOut) -> Self {
        Self(Error::middleware(error))
    }
}

/// The policy of one request.
#[derive(Clone, Copy)]
struct Policy(ResponsePolicy<Concrete>);

impl RetryPolicy<Result<Response, Failed>> for Policy {
    fn evaluate(&self, outcome: &Result<Response, Failed>) -> RetryDirective {
        match outcome {
            Ok(response) => self.0.evaluate_response(response),
            Err(Failed(error)) => self.0.evaluate_error(error),
        }
    }

    fn unknown_error<'o>(
        &self,
        outcome: &'o Result<Response, Failed>,
    ) -> Option<&'o (dyn std::error::Error + 'static)> {
        outcome.as_ref().err().map(|Failed(error)| error as _)
    }
}
