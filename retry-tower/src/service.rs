//! The service that a layer makes.

use super::{HooksOf, OnEnd, OnRetry, PolicyOf, RequestsOf, ResponseFuture, Settings, StrategyOf, TimeOf};
use retry_core::retry::OptionalObserver;
use std::mem;
use std::task::{Context, Poll};
use tower_service::Service;

type HooksFor<R, Req, Svc> = <R as RequestsOf<Req, OutcomeOf<Req, Svc>>>::Hooks;
type OutcomeOf<Req, Svc> = Result<<Svc as Service<Req>>::Response, <Svc as Service<Req>>::Error>;
type OnRetryOf<R, Req, Svc> = <HooksFor<R, Req, Svc> as HooksOf<OutcomeOf<Req, Svc>>>::OnRetry;
type OnEndOf<R, Req, Svc> = <HooksFor<R, Req, Svc> as HooksOf<OutcomeOf<Req, Svc>>>::OnEnd;

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
        // The time is read, and failures are kept, only for hooks.
        let operation =
            if <OnEndOf<R, Req, Svc> as OnEnd<_>>::IS_SET { operation } else { operation.without_elapsed() };
        let keeps = <OnRetryOf<R, Req, Svc> as OnRetry<_>>::IS_SET;
        let operation = if keeps { operation.with_failures() } else { operation };
        ResponseFuture::new(self.take_ready(), request, (policy, requests), operation)
    }
}
