//! Requests with a hedge.

use super::hedged_future::drive;
use super::{
    ChangeRequest, CloneRequest, HedgeOf, HedgeWith, PolicyOf, RetryLayer, RetryService, SameHedge, StrategyOf,
};
use crate::hedge::Hedge;
use crate::operation::{LimitsOn, OptionalObserver, TimeLimits};
use crate::strategy::RetryStrategy;
use crate::time::Timer;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A layer that retries requests and adds [hedges](Hedge) to them. [`RetryLayer::hedge`] and
/// [`RetryLayer::hedge_with`] create it.
#[derive(Clone, Debug)]
pub struct HedgedLayer<L, H> {
    retries: L,
    hedge: H,
}

/// A service that retries the requests of its inner service and adds hedges to them. [`HedgedLayer`] makes it.
#[derive(Clone, Debug)]
pub struct HedgedService<Svc, H> {
    retries: Svc,
    hedge: H,
}

impl<S, P, C, A, T, O, L> RetryLayer<S, P, C, A, T, O, L> {
    /// Adds a hedge to each request: if the first attempt has no answer after the delay, a second attempt runs beside it,
    /// and the first success wins. Call this after all other methods.
    ///
    /// The requests must be idempotent: they may be executed twice, even at the same time. One whose policy says
    /// `idempotent(false)` has no hedge. For other choices, and for several hedges, use [`hedge_with`](Self::hedge_with). What applies to hedges of closures applies here; see
    /// [`Retry::hedge`](crate::Retry::hedge). Besides, a hedge is sent only if the request can be cloned, and a clone of the
    /// service is ready immediately.
    ///
    /// The response future is boxed, and needs parts that are [`Send`] and `'static`.
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
    /// use retry_core::{Hedge, PatientRetryStrategy};
    ///
    /// static STORE: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static READS: Hedge = Hedge::p95();
    ///
    /// let layer = RetryLayer::new(&STORE).idempotent(true).hedge(&READS);
    /// ```
    #[must_use]
    pub const fn hedge(self, hedge: &'static Hedge) -> HedgedLayer<Self, SameHedge> {
        HedgedLayer { retries: self, hedge: SameHedge(hedge) }
    }

    /// Adds a hedge to some requests: the one that the function returns for a request. It is called once for each request,
    /// before the first attempt. See [`hedge`](Self::hedge).
    ///
    /// ```
    /// use retry_core::tower::RetryLayer;
    /// use retry_core::{Hedge, PatientRetryStrategy, StandardRetryPolicy};
    ///
    /// #[derive(Clone)]
    /// enum Request {
    ///     Read,
    ///     Append(String),
    /// }
    ///
    /// static LOG: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static READS: Hedge = Hedge::p95();
    ///
    /// fn is_read(request: &Request) -> bool {
    ///     matches!(request, Request::Read)
    /// }
    ///
    /// let layer = RetryLayer::new(&LOG)
    ///     .policy_with(|request: &Request| StandardRetryPolicy::new().idempotent(is_read(request)))
    ///     .hedge_with(|request: &Request| is_read(request).then_some(&READS));
    /// ```
    #[must_use]
    pub const fn hedge_with<Req, F>(self, hedge: F) -> HedgedLayer<Self, HedgeWith<F>>
    where
        F: Fn(&Req) -> Option<&'static Hedge>,
    {
        HedgedLayer { retries: self, hedge: HedgeWith(hedge) }
    }
}

impl<Svc, L: Layer<Svc>, H: Clone> Layer<Svc> for HedgedLayer<L, H> {
    type Service = HedgedService<L::Service, H>;

    fn layer(&self, inner: Svc) -> Self::Service {
        HedgedService { retries: self.retries.layer(inner), hedge: self.hedge.clone() }
    }
}

impl<Svc, Req, S, P, C, A, T, O, L, H> Service<Req> for HedgedService<RetryService<Svc, S, P, C, A, T, O, L>, H>
where
    Svc: Service<Req, Response: Send, Error: Send, Future: Send> + Clone + Send + 'static,
    Req: Send + 'static,
    S: StrategyOf<Req, Strategy: RetryStrategy<Token: Send> + Send + Sync + 'static>,
    P: PolicyOf<Req, Result<Svc::Response, Svc::Error>, Policy: Send + 'static>,
    C: CloneRequest<Req> + Clone + Send + 'static,
    A: ChangeRequest<Req, State: Send> + Clone + Send + 'static,
    T: Timer<Sleep: Send> + Clone + Send + 'static,
    O: OptionalObserver<State: Send> + Clone + Send + 'static,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>
        + TimeLimits<Cut: Send, Sleep<<T as Timer>::Sleep>: Send>
        + Send
        + 'static,
    H: HedgeOf<Req>,
{
    type Response = Svc::Response;
    type Error = Svc::Error;
    type Future = HedgedFuture<Result<Svc::Response, Svc::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Svc::Error>> {
        self.retries.poll_ready(context)
    }

    fn call(&mut self, request: Req) -> Self::Future {
        HedgedFuture(match self.hedge.hedge_of(&request) {
            Some(hedge) => {
                let settings = self.retries.settings.of_request(&request);
                Box::pin(drive(self.retries.take_ready(), request, settings, hedge))
            }
            None => Box::pin(self.retries.call(request)),
        })
    }
}

/// The future of a request that is retried and may have a hedge. [`HedgedService`] returns it.
#[must_use = "futures do nothing unless polled"]
pub struct HedgedFuture<R>(Pin<Box<dyn Future<Output = R> + Send>>);

impl<R> Future for HedgedFuture<R> {
    type Output = R;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        self.0.as_mut().poll(context)
    }
}

impl<R> fmt::Debug for HedgedFuture<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HedgedFuture").finish_non_exhaustive()
    }
}
