//! The service that a layer makes.

use super::{ChangeRequest, CloneRequest, PolicyOf, ResponseFuture, Settings, StrategyOf};
use crate::operation::{LimitsOn, OptionalObserver};
use crate::time::Timer;
use std::mem;
use std::task::{Context, Poll};
use tower_service::Service;

/// A service that retries the requests of its inner service. [`RetryLayer`](super::RetryLayer) makes it.
#[derive(Clone, Debug)]
pub struct RetryService<Svc, S, P, C, A, T, O, L> {
    inner: Svc,
    pub(super) settings: Settings<S, P, C, A, T, O, L>,
}

impl<Svc, S, P, C, A, T, O, L> RetryService<Svc, S, P, C, A, T, O, L> {
    pub(super) const fn new(inner: Svc, settings: Settings<S, P, C, A, T, O, L>) -> Self {
        Self { inner, settings }
    }
}

impl<Svc: Clone, S, P, C, A, T, O, L> RetryService<Svc, S, P, C, A, T, O, L> {
    /// Takes the service that was polled. Only this one is ready, so a request gets it, and its clone stays here.
    pub(super) fn take_ready(&mut self) -> Svc {
        let clone = self.inner.clone();
        mem::replace(&mut self.inner, clone)
    }
}

impl<Svc, Req, S, P, C, A, T, O, L> Service<Req> for RetryService<Svc, S, P, C, A, T, O, L>
where
    Svc: Service<Req> + Clone,
    S: StrategyOf<Req>,
    P: PolicyOf<Req, Result<Svc::Response, Svc::Error>>,
    C: CloneRequest<Req> + Clone,
    A: ChangeRequest<Req> + Clone,
    T: Timer + Clone,
    O: OptionalObserver + Clone,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    type Response = Svc::Response;
    type Error = Svc::Error;
    type Future = ResponseFuture<Svc, Req, S::Strategy, P::Policy, C, A, T, O, L>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Svc::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        let settings = self.settings.of_request(&request);
        ResponseFuture::new(self.take_ready(), request, settings)
    }
}
