//! The future of one request with a hedge.

use super::future::Sent;
use super::{ChangeRequest, CloneRequest, Settings};
use crate::hedge::Hedge;
use crate::observe::NoHedge;
use crate::operation::race::{self, Form, OtherToken, Parts, permit};
use crate::operation::{Decision, LimitsOn, OperationOf, OptionalObserver, Outcome, TimeLimits};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::{Clock, Timer};
use std::future::{pending, poll_fn};
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

/// Sends a request to a service that is ready, with a hedge and retries.
pub(super) async fn drive<Svc, Req, S, P, C, A, T, O, L>(
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
    // Only the service that was polled is ready.
    let (spare, prepared) = (service.clone(), Some(Prepared { service, is_ready: true }));
    let (next, clone, is_sent) = (Some(request), None, &is_sent);
    let mut requests = Requests { settings, operation, state, next, clone, spare, prepared, is_sent };
    let attempt = |requests: &mut Requests<'_, Svc, Req, S, P, C, A, T, O, L>, number, time_left| {
        let (prepared, request) = requests.next(number, time_left);
        send(prepared, request, is_sent)
    };
    race::drive(&mut requests, &mut None, hedge, attempt).await.outcome
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
    operation: OperationOf<S, L, O>,
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

impl<Svc, Req, S, P, C, A, T, O, L> Requests<'_, Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Clone,
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Clock,
    O: OptionalObserver,
    L: TimeLimits,
{
    /// Returns the service and the request of the attempt that begins now.
    fn next(&mut self, number: u32, time_left: Option<Duration>) -> (Prepared<Svc>, Option<Req>) {
        let mut request = mem::replace(&mut self.next, self.clone.take());
        if let Some(request) = &mut request {
            self.settings.change.change(request, &self.state, number, time_left);
        }
        let unprepared = || Prepared { service: self.spare.clone(), is_ready: false };
        let prepared = self.prepared.take().unwrap_or_else(unprepared);
        // If the service is ready, it takes the request when the attempt is polled first, which is now.
        self.is_sent.store(prepared.is_ready, Ordering::Relaxed);
        (prepared, request)
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

/// Sends a request to a service as soon as it is ready.
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
