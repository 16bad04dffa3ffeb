//! Requests with a hedge: the layer and its service, the hedge of a request, and the operation of a request.

use super::choice::{With, sealed};
use super::future::Sent;
use super::{ChangeRequest, CloneRequest, PolicyOf, RetryLayer, RetryService, Settings, StrategyOf};
use crate::hedge::Hedge;
use crate::observe::NoHedge;
use crate::operation::hedging::{self, Form, OtherToken, Parts, permit};
use crate::operation::{Decision, LimitsOn, OptionalObserver, Outcome, StateOf, TimeLimits};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::{Clock, Timer};
use std::fmt;
use std::future::{pending, poll_fn};
use std::mem;
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

/// The hedges of requests of type `Req`: [`SameHedge`] or [`With`]. This trait is sealed.
///
/// ```
/// use retry_core::tower::RetryLayer;
/// use retry_core::{Hedge, PatientRetryStrategy};
///
/// static API: PatientRetryStrategy = PatientRetryStrategy::new();
/// static READS: Hedge = Hedge::p95();
///
/// // The same hedge for all requests.
/// let layer = RetryLayer::new(&API).idempotent(true).hedge(&READS);
/// # let _ = layer;
/// // Hedges for some requests, which are names of methods here.
/// let layer = RetryLayer::new(&API)
///     .hedge_with(|method: &&str| (*method == "GET").then_some(&READS));
/// # let _ = layer;
/// ```
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

/// Sends a request to a service that is ready, with a hedge and retries.
async fn drive<Svc, Req, S, P, C, A, T, O, L>(
    service: Svc,
    request: Req,
    settings: Settings<S, P, C, A, T, O, L>,
    hedge: &'static Hedge,
) -> Result<Svc::Response, Svc::Error>
where
    Svc: Service<Req> + Clone,
    S: RetryStrategy,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    C: CloneRequest<Req>,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    let is_sent = AtomicBool::new(false);
    let operation = settings.call().begin(settings.limits);
    let state = A::begin(&operation);
    let (next, clone, spare, is_sent) = (Some(request), None, service, &is_sent);
    let mut requests = Requests { settings, operation, state, next, clone, spare, prepared: None, is_sent };
    // Only the service that was polled is ready.
    let spare = requests.spare.clone();
    requests.prepared = Some(Prepared { service: mem::replace(&mut requests.spare, spare), is_ready: true });
    let attempt = |requests: &mut Requests<'_, Svc, Req, S, P, C, A, T, O, L>, number, time_left| {
        let mut request = mem::replace(&mut requests.next, requests.clone.take());
        if let Some(request) = &mut request {
            requests.settings.change.change(request, &requests.state, number, time_left);
        }
        let unprepared = || Prepared { service: requests.spare.clone(), is_ready: false };
        let prepared = requests.prepared.take().unwrap_or_else(unprepared);
        // If the service is ready, it takes the request when the attempt is polled first, which is now.
        is_sent.store(prepared.is_ready, Ordering::Relaxed);
        send(prepared, request, is_sent)
    };
    hedging::drive(&mut requests, &mut None, hedge, attempt).await.outcome
}

/// The operation of a request, which releases its token if it is dropped before the attempt of that token is sent.
struct Requests<'s, Svc, Req, S, P, C, A, T, O, L>
where
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Clock,
    O: OptionalObserver,
    L: TimeLimits,
{
    settings: Settings<S, P, C, A, T, O, L>,
    operation: StateOf<S, L, O>,
    /// State for the function that changes the requests of attempts.
    state: A::State,
    /// The request of the next attempt. `None` if the request can't be cloned.
    next: Option<Req>,
    /// The request of the attempt after that.
    clone: Option<Req>,
    /// A service that is not ready.
    spare: Svc,
    /// The service of the next attempt, if it is ready.
    prepared: Option<Prepared<Svc>>,
    /// Whether the service took the request of the attempt whose token the operation holds. Only one task uses it. It is
    /// atomic so that an attempt with a reference to it is `Send`.
    is_sent: &'s AtomicBool,
}

impl<Svc, Req, S, P, C, A, T, O, L> Drop for Requests<'_, Svc, Req, S, P, C, A, T, O, L>
where
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Clock,
    O: OptionalObserver,
    L: TimeLimits,
{
    fn drop(&mut self) {
        if !self.is_sent.load(Ordering::Relaxed) {
            self.operation.release(self.settings.call());
        }
    }
}

impl<Svc, Req, S, P, C, A, T, O, L> Form<S, T, L, O, Result<Svc::Response, Svc::Error>>
    for Requests<'_, Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req> + Clone,
    S: RetryStrategy,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    C: CloneRequest<Req>,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    fn parts(&mut self) -> Parts<'_, S, T, L, O> {
        (self.settings.call(), &mut self.operation)
    }

    fn prepare(&mut self) {
        self.is_sent.store(false, Ordering::Relaxed);
        self.clone = self.next.as_ref().and_then(|request| self.settings.clone.clone_request(request));
    }

    /// Buys the hedge, if there is a request for it, and a service that is ready immediately.
    fn buy_hedge(&mut self, context: &mut Context<'_>) -> Result<OtherToken<S::Token>, NoHedge> {
        permit(&self.settings.policy)?;
        if self.next.is_none() {
            return Err(NoHedge::NotRepeatable);
        }
        let mut service = self.spare.clone();
        let Poll::Ready(Ok(())) = service.poll_ready(context) else { return Err(NoHedge::NotReady) };
        let bought = self.settings.call().buy_hedge(&mut self.operation)?;
        self.prepared = Some(Prepared { service, is_ready: true });
        Ok(bought)
    }

    fn evaluate(&mut self, outcome: &Outcome<Result<Svc::Response, Svc::Error>>) -> RetryDirective {
        self.settings.call().evaluate(&mut self.operation, &self.settings.policy, outcome)
    }

    fn settle(
        &mut self,
        directive: Option<RetryDirective>,
        _: &Outcome<Result<Svc::Response, Svc::Error>>,
    ) -> Decision {
        let directive = directive.map(|directive| A::remember(&mut self.state, directive));
        let sent = Sent { was_sent: self.is_sent.load(Ordering::Relaxed), is_repeatable: self.next.is_some() };
        self.operation.settle_or_end(self.settings.call(), directive, sent)
    }
}

/// A service, which may be ready already.
struct Prepared<Svc> {
    service: Svc,
    is_ready: bool,
}

/// Waits until a service is ready, and sends it a request.
async fn send<Svc: Service<Req>, Req>(
    prepared: Prepared<Svc>,
    request: Option<Req>,
    is_sent: &AtomicBool,
) -> Result<Svc::Response, Svc::Error> {
    let Prepared { mut service, is_ready } = prepared;
    // A request that can't be cloned is not retried.
    let Some(request) = request else { return pending().await };
    if !is_ready {
        poll_fn(|context| service.poll_ready(context)).await?;
        is_sent.store(true, Ordering::Relaxed);
    }
    service.call(request).await
}
