//! The service that a layer makes.

use super::{OnEnd, OnRetry, PolicyOf, RequestsOf, ResponseFuture, Settings, StrategyOf, TimeOf};
use retry_core::drive::OperationBuilder;
use retry_core::retry::OptionalObserver;
use std::mem;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service that retries the requests of its inner service. [`RetryLayer`](super::RetryLayer) makes it.
#[derive(Clone, Debug)]
pub struct RetryService<Svc, S, P, R, T, O> {
    inner: Svc,
    pub(super) settings: Settings<S, P, R, T, O>,
}

impl<Svc, S, P, R, T, O> RetryService<Svc, S, P, R, T, O> {
    pub(super) const fn new(inner: Svc, settings: Settings<S, P, R, T, O>) -> Self {
        Self { inner, settings }
    }
}

impl<Svc: Clone, S, P, R, T, O> RetryService<Svc, S, P, R, T, O> {
    /// Takes the service that was polled. Only this one is ready, so a request gets it, and its clone stays here.
    pub(super) fn take_ready(&mut self) -> Svc {
        let clone = self.inner.clone();
        mem::replace(&mut self.inner, clone)
    }
}

impl<Svc, Req, S, P, R, T, O> Service<Req> for RetryService<Svc, S, P, R, T, O>
where
    Svc: Service<Req> + Clone,
    S: StrategyOf<Req>,
    P: PolicyOf<Req, Result<Svc::Response, Svc::Error>>,
    R: RequestsOf<Req, Result<Svc::Response, Svc::Error>> + Clone,
    T: TimeOf<Result<Svc::Response, Svc::Error>> + Clone,
    O: OptionalObserver + Clone,
{
    type Response = Svc::Response;
    type Error = Svc::Error;
    type Future = ResponseFuture<Svc, Req, S::Strategy, P::Policy, R, T, O>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Svc::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let (policy, operation) = self.settings.of_request(&request);
        let requests = self.settings.requests.clone();
        let operation = for_hooks::<R::OnRetry, R::OnEnd, _, _, _, _>(operation);
        ResponseFuture::new(self.take_ready(), request, (policy, requests), operation)
    }
}

/// Lets an operation read the time, and keep failures, only for hooks.
pub(super) fn for_hooks<F: OnRetry<Out>, E: OnEnd<Out>, Out, S, C, O>(
    operation: OperationBuilder<S, C, O>,
) -> OperationBuilder<S, C, O> {
    let operation = if E::IS_SET { operation } else { operation.without_elapsed() };
    if F::IS_SET { operation.with_failures() } else { operation }
}
