//! A layer for servers whose callers retry.

use retry_core::strategy::WithoutRetries;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A layer below which each operation makes one attempt: [`without_retries`](retry_core::without_retries()) around each request.
///
/// Use it for a server whose callers retry: each operation of the server then makes one attempt for each request.
///
/// ```
/// use retry_tower::WithoutRetriesLayer;
/// # use tower_layer::Layer;
/// # struct Handler;
///
/// // Usually part of a `tower::ServiceBuilder`.
/// let service = WithoutRetriesLayer::new().layer(Handler);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct WithoutRetriesLayer;

impl WithoutRetriesLayer {
    /// Creates the layer.
    pub const fn new() -> Self {
        Self
    }
}

impl<Svc> Layer<Svc> for WithoutRetriesLayer {
    type Service = WithoutRetriesService<Svc>;

    fn layer(&self, inner: Svc) -> Self::Service {
        WithoutRetriesService { inner }
    }
}

/// A service below which each operation makes one attempt. [`WithoutRetriesLayer`] makes it.
#[derive(Clone, Debug)]
pub struct WithoutRetriesService<Svc> {
    inner: Svc,
}

impl<Svc: Service<Req>, Req> Service<Req> for WithoutRetriesService<Svc> {
    type Response = Svc::Response;
    type Error = Svc::Error;
    type Future = WithoutRetriesFuture<Svc::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Svc::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let scope = WithoutRetries::new();
        let future = Box::pin(scope.run(|| self.inner.call(request)));
        WithoutRetriesFuture { scope, future }
    }
}

/// The future of a request. [`WithoutRetriesService`] returns it. The response future of the inner service is boxed.
#[must_use = "futures do nothing unless polled"]
pub struct WithoutRetriesFuture<F> {
    scope: WithoutRetries,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for WithoutRetriesFuture<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Self { scope, future } = &mut *self;
        scope.run(|| future.as_mut().poll(context))
    }
}

impl<F> fmt::Debug for WithoutRetriesFuture<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithoutRetriesFuture").finish_non_exhaustive()
    }
}
