//! Requests with a hedge: the layer and its service, the hedge of a request, and the operation of a request.

use super::choice::{With, sealed};
use super::service::for_hooks;
use super::{NextRequest, OnEnd, OnRetry, PolicyOf, RequestsOf, RetryLayer, RetryService, StrategyOf, TimeOf};
use retry_core::drive::HedgedAttempts;
use retry_core::observe::NoHedge;
use retry_core::retry::OptionalObserver;
use retry_core::{AttemptContext, Event, Hedge, RetryPolicy, RetryStrategy, TimedOut, Timer};
use std::fmt;
use std::future::{pending, poll_fn};
use std::marker::PhantomData;
use std::mem;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
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

impl<S, P, R, T, O> RetryLayer<S, P, R, T, O> {
    /// Adds a hedge to each request: if the first attempt has no answer after the delay, a second attempt runs beside it,
    /// and the first success wins. Call this after all other methods.
    ///
    /// A request with a hedge may be executed twice, even at the same time. So it has one only if it is idempotent: after
    /// `idempotent(true)`, or if its [policy](Self::policy_with) [says so](RetryPolicy::is_idempotent), as below. For several hedges,
    /// use [`hedge_with`](Self::hedge_with). What applies to hedges of closures applies here; see
    /// [`Retry::hedge`](retry_core::Retry::hedge). Besides, a hedge is sent only if the request can be cloned, and a clone of the
    /// service is ready immediately.
    ///
    /// The response future is boxed, and needs parts that are [`Send`] and `'static`.
    ///
    /// ```
    /// use retry_tower::RetryLayer;
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
    /// fn policy(request: &Request) -> StandardRetryPolicy {
    ///     StandardRetryPolicy::new().idempotent(matches!(request, Request::Read))
    /// }
    ///
    /// let layer = RetryLayer::new(&LOG).policy_with(policy).hedge(&READS);
    /// ```
    #[must_use]
    pub const fn hedge(self, hedge: &'static Hedge) -> HedgedLayer<Self, SameHedge> {
        HedgedLayer { retries: self, hedge: SameHedge(hedge) }
    }

    /// Adds a hedge to requests: the one that the function returns for a request, if their usual times differ. It is called once for
    /// each request, before the first attempt. What applies to [`hedge`](Self::hedge) applies here.
    ///
    /// ```
    /// use retry_tower::RetryLayer;
    /// use retry_core::{Hedge, PatientRetryStrategy, StandardRetryPolicy};
    ///
    /// #[derive(Clone)]
    /// enum Request {
    ///     Read,
    ///     Scan,
    ///     Append(String),
    /// }
    ///
    /// static LOG: PatientRetryStrategy = PatientRetryStrategy::new();
    /// static READS: Hedge = Hedge::p95();
    /// static SCANS: Hedge = Hedge::p95();
    ///
    /// fn hedge(request: &Request) -> Option<&'static Hedge> {
    ///     match request {
    ///         Request::Read => Some(&READS),
    ///         Request::Scan => Some(&SCANS),
    ///         Request::Append(_) => None,
    ///     }
    /// }
    ///
    /// fn policy(request: &Request) -> StandardRetryPolicy {
    ///     StandardRetryPolicy::new().idempotent(hedge(request).is_some())
    /// }
    ///
    /// let layer = RetryLayer::new(&LOG).policy_with(policy).hedge_with(hedge);
    /// ```
    #[must_use]
    pub const fn hedge_with<Req, F>(self, hedge: F) -> HedgedLayer<Self, With<F>>
    where
        F: Fn(&Req) -> Option<&'static Hedge>,
    {
        HedgedLayer { retries: self, hedge: With(hedge) }
    }
}

impl<Svc, L: Layer<Svc>, H: Clone> Layer<Svc> for HedgedLayer<L, H> {
    type Service = HedgedService<L::Service, H>;

    fn layer(&self, inner: Svc) -> Self::Service {
        HedgedService { retries: self.retries.layer(inner), hedge: self.hedge.clone() }
    }
}

impl<Svc, Req, S, P, R, T, O, H> Service<Req> for HedgedService<RetryService<Svc, S, P, R, T, O>, H>
where
    Svc: Service<Req, Response: Send, Error: Send, Future: Send> + Clone + Send + 'static,
    Req: Send + 'static,
    S: StrategyOf<Req, Strategy: RetryStrategy<Token: Send> + Send + Sync + 'static>,
    P: PolicyOf<Req, Result<Svc::Response, Svc::Error>, Policy: Send + 'static>,
    R: RequestsOf<Req, Result<Svc::Response, Svc::Error>> + Clone + Send + 'static,
    T: TimeOf<Result<Svc::Response, Svc::Error>, Timer: Timer<Sleep: Send> + Send + 'static> + Clone + Send + 'static,
    O: OptionalObserver<State: Send> + Clone + Send + 'static,
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
                let (policy, operation) = self.retries.settings.of_request(&request);
                let requests = self.retries.settings.requests.clone();
                let service = self.retries.take_ready();
                Box::pin(async move {
                    let operation = for_hooks::<R::OnRetry, R::OnEnd, _, _, _, _>(operation);
                    // A race tells its attempts only then of failures, after which the next request is changed.
                    let operation = if R::Next::IS_SET { operation.with_failures() } else { operation };
                    // Before the service is cloned, which may panic.
                    let operation = operation.begin();
                    let is_sent = AtomicBool::new(false);
                    let mut attempts =
                        RequestAttempts::<_, _, _, _, T>::new(service, request, (policy, requests), &is_sent);
                    let (outcome, ended) = operation.race(hedge, &mut attempts).await;
                    attempts.requests.hooks().on_end.on_end(|| ended.report(&outcome));
                    outcome
                })
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

/// The hedges of requests of type `Req`: [`SameHedge`] or [`With`]. This trait is sealed.
///
/// See [`RetryLayer::hedge_with`](super::RetryLayer::hedge_with).
pub trait HedgeOf<Req>: sealed::Sealed {
    /// Returns the hedge of this request, if it has one.
    #[doc(hidden)]
    fn hedge_of(&self, request: &Req) -> Option<&'static Hedge>;
}

/// The same hedge for all requests; see [`RetryLayer::hedge`](super::RetryLayer::hedge).
#[derive(Clone, Copy, Debug)]
pub struct SameHedge(&'static Hedge);

impl sealed::Sealed for SameHedge {}

impl<Req> HedgeOf<Req> for SameHedge {
    fn hedge_of(&self, _: &Req) -> Option<&'static Hedge> {
        Some(self.0)
    }
}

impl<Req, F: Fn(&Req) -> Option<&'static Hedge>> HedgeOf<Req> for With<F> {
    fn hedge_of(&self, request: &Req) -> Option<&'static Hedge> {
        (self.0)(request)
    }
}

/// The attempts of a request that has a hedge.
struct RequestAttempts<'s, Svc, Req, P, R, T> {
    policy: P,
    requests: R,
    /// The request of the next attempt. `None` if the request can't be cloned.
    next: Option<Req>,
    /// The request of the attempt after that.
    clone: Option<Req>,
    /// A service that is not ready.
    spare: Svc,
    /// The service of the next attempt, if it is ready.
    prepared: Option<Svc>,
    /// Whether the service took the request of the attempt that was made last. Only one task uses it. It is atomic so that an attempt with
    /// a reference to it is `Send`.
    is_sent: &'s AtomicBool,
    time: PhantomData<fn() -> T>,
}

impl<'s, Svc: Clone, Req, P, R, T> RequestAttempts<'s, Svc, Req, P, R, T> {
    /// Creates the attempts of a request to a service that is ready.
    fn new(service: Svc, request: Req, (policy, requests): (P, R), is_sent: &'s AtomicBool) -> Self {
        // Only the service that was polled is ready.
        let (spare, prepared) = (service.clone(), Some(service));
        let (next, clone) = (Some(request), None);
        Self { policy, requests, next, clone, spare, prepared, is_sent, time: PhantomData }
    }
}

impl<'s, Svc, Req, P, R, T> HedgedAttempts for RequestAttempts<'s, Svc, Req, P, R, T>
where
    Svc: Service<Req> + Clone,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    R: RequestsOf<Req, Result<Svc::Response, Svc::Error>>,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
{
    type Outcome = Result<Svc::Response, Svc::Error>;
    type Policy = P;

    fn policy(&self) -> &P {
        &self.policy
    }

    type Permit = Svc;

    /// Permits a hedge if there is a request for it, and a service that is ready immediately.
    fn permit_hedge(&mut self, context: &mut Context<'_>) -> Result<Svc, NoHedge> {
        if self.next.is_none() {
            return Err(NoHedge::NotRepeatable);
        }
        let mut service = self.spare.clone();
        if let Poll::Ready(Ok(())) = service.poll_ready(context) { Ok(service) } else { Err(NoHedge::NotReady) }
    }

    fn prepare(&mut self, permit: Option<Svc>) {
        self.is_sent.store(false, Ordering::Relaxed);
        self.prepared = permit.or(self.prepared.take());
        self.clone = self.next.as_ref().and_then(|request| self.requests.clone_request(request));
    }

    fn attempt(
        &mut self,
        context: &dyn Fn() -> AttemptContext,
    ) -> impl Future<Output = Self::Outcome> + use<'s, Svc, Req, P, R, T> {
        let mut request = mem::replace(&mut self.next, self.clone.take());
        if let Some(request) = &mut request {
            self.requests.change_request(request, context);
        }
        let prepared = self.prepared.take();
        // If the service is ready, it takes the request when the attempt is polled first, which is now.
        self.is_sent.store(prepared.is_some(), Ordering::Relaxed);
        let is_ready = prepared.is_some();
        send(prepared.unwrap_or_else(|| self.spare.clone()), is_ready, request, self.is_sent)
    }

    fn is_sent(&self) -> bool {
        self.is_sent.load(Ordering::Relaxed)
    }

    fn is_repeatable(&self) -> bool {
        self.next.is_some()
    }

    fn timed_out(&mut self, timed_out: TimedOut) -> Option<Self::Outcome> {
        T::timed_out(timed_out)
    }

    fn on_retry(&mut self, outcome: &Self::Outcome, event: &Event) -> ControlFlow<()> {
        self.requests.hooks().on_retry.on_retry(outcome, event)?;
        if event.kind.reason().is_none()
            && let Some(request) = &mut self.next
        {
            self.requests.next_request(request, outcome);
        }
        ControlFlow::Continue(())
    }
}

/// Waits until a service is ready, unless it is, and sends it a request.
async fn send<Svc: Service<Req>, Req>(
    mut service: Svc,
    is_ready: bool,
    request: Option<Req>,
    is_sent: &AtomicBool,
) -> Result<Svc::Response, Svc::Error> {
    // A request that can't be cloned is not retried.
    let Some(request) = request else { return pending().await };
    if !is_ready {
        poll_fn(|context| service.poll_ready(context)).await?;
        is_sent.store(true, Ordering::Relaxed);
    }
    service.call(request).await
}
