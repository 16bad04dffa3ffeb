//! The future of one request, which drives its operation.

use super::{ChangeRequest, CloneRequest, Settings};
use crate::operation::explored::{self, Outcome, Place};
use crate::operation::{
    Attempt, Deadline, Driver, End, LimitsOn, OptionalObserver, Plain, StateOf, TimeLimits, Waiting,
};
use crate::policy::{RetryDirective, RetryPolicy};
use crate::strategy::RetryStrategy;
use crate::time::Timer;
use std::fmt;
use std::mem;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tower_service::Service;

/// The future of a request that is retried. [`RetryService`](super::RetryService) returns it.
///
/// It is [`Send`] if its parts are. The response future of the inner service is boxed, once for all attempts.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture<Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    settings: Settings<S, P, C, A, T, O, L>,
    /// The request of the next attempt. `None` if the request can't be cloned.
    request: Option<Req>,
    sender: Sender<Svc, Req>,
    last: Option<Result<Svc::Response, Svc::Error>>,
    stage: Stage<S, A::State, T, O, L>,
}

/// The stages of a request.
enum Stage<S: RetryStrategy, X, T: Timer, O: OptionalObserver, L: TimeLimits> {
    /// The future was not polled yet.
    New,
    /// The operation is under way.
    Running(Running<S, X, T, O, L>),
    /// The future was ready.
    Done,
}

/// An operation that is under way.
struct Running<S: RetryStrategy, X, T: Timer, O: OptionalObserver, L: TimeLimits> {
    operation: StateOf<S, L, O>,
    /// State for the function that changes the requests of attempts.
    state: X,
    wait: Option<Waiting<(), T::Sleep>>,
    /// The limit of the attempt that is under way. `None` while the operation waits.
    limit: Option<Limit<L, T>>,
}

/// An attempt: its deadline, the sleep until the deadline, and what became of its request.
struct Limit<L: TimeLimits, T: Timer> {
    deadline: Deadline<L::Cut>,
    sleep: Option<Pin<Box<CutSleep<L, T>>>>,
    running: explored::Running,
    /// Whether the service took the request.
    is_sent: bool,
}

/// The sleep until an attempt is cut.
type CutSleep<L, T> = <L as TimeLimits>::Sleep<<T as Timer>::Sleep>;

impl<Svc, Req, S, P, C, A, T, O, L> ResponseFuture<Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    /// Creates the future of a request to a service that is ready.
    pub(super) fn new(service: Svc, request: Req, settings: Settings<S, P, C, A, T, O, L>) -> Self {
        let sender = Sender { service, is_ready: true, request: None, response: Box::pin(None) };
        Self { settings, request: Some(request), sender, last: None, stage: Stage::New }
    }
}

/// Nothing is pinned in place: the response future and the sleeps are boxed.
impl<Svc, Req, S, P, C, A, T, O, L> Unpin for ResponseFuture<Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
}

impl<Svc, Req, S, P, C, A, T, O, L> Future for ResponseFuture<Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    C: CloneRequest<Req>,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    type Output = Result<Svc::Response, Svc::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { settings, request, sender, last, stage } = self.get_mut();
        if let Stage::New = stage {
            let operation = settings.call().begin(settings.limits);
            let state = A::begin(&operation);
            *stage = Stage::Running(Running { operation, state, wait: None, limit: None });
        }
        let Stage::Running(running) = stage else { return Poll::Pending };
        loop {
            let limit = if let Some(limit) = &mut running.limit {
                limit
            } else {
                ready!(running.poll_wait(settings, context));
                if let Some(outcome) = running.operation.unrecovered(last) {
                    let end = running.settle::<P, C, A, Req, _>(settings, last, outcome, None, Plain);
                    if let ControlFlow::Break(end) = end {
                        *stage = Stage::Done;
                        return Poll::Ready(end.outcome);
                    }
                }
                let clone = request.as_ref().and_then(|request| settings.clone.clone_request(request));
                let Running { operation, state, limit, .. } = &mut *running;
                let (deadline, sleep) = settings.call().deadline(operation);
                let running = explored::Running::new(Place::of(operation));
                let limit = limit.insert(Limit { deadline, sleep: sleep.map(Box::pin), running, is_sent: false });
                if limit.deadline.over().is_none() {
                    sender.request = mem::replace(request, clone);
                    // The sender has the request already, so a panic here does not make an unsent attempt look sent.
                    if let Some(request) = &mut sender.request {
                        settings.change.change(request, state, operation.attempts(), operation.time_left());
                    }
                }
                limit
            };
            let mut sending = Sending { running: &mut limit.running, sender, is_sent: &mut limit.is_sent };
            let attempt = Attempt::new(limit.deadline, Pin::new(&mut limit.sleep), Pin::new(&mut sending));
            let attempted = ready!(pin!(attempt).poll(context));
            sender.stop();
            let sent = Sent { was_sent: limit.is_sent, is_repeatable: request.is_some() };
            let call = settings.call();
            let (outcome, is_over) = StateOf::<S, L, O>::attempted(attempted, last);
            let directive = (!is_over).then(|| call.evaluate(&mut running.operation, &settings.policy, &outcome));
            if let ControlFlow::Break(end) = running.settle::<P, C, A, Req, _>(settings, last, outcome, directive, sent)
            {
                *stage = Stage::Done;
                return Poll::Ready(end.outcome);
            }
            running.limit = None;
        }
    }
}

impl<Svc, Req, S, P, C, A, T, O, L> Drop for ResponseFuture<Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    fn drop(&mut self) {
        // An attempt that was not sent is refunded. It is sent when the service takes the request.
        if let Stage::Running(Running { operation, limit, .. }) = &mut self.stage
            && limit.as_ref().is_none_or(|limit| !limit.is_sent)
        {
            operation.release(self.settings.call());
        }
    }
}

impl<S: RetryStrategy, X, T: Timer, O: OptionalObserver, L: TimeLimits> Running<S, X, T, O, L> {
    /// Settles an outcome. There is no directive if the time is over.
    fn settle<P, C, A: ChangeRequest<Req, State = X>, Req, R>(
        &mut self,
        settings: &Settings<S, P, C, A, T, O, L>,
        last: &mut Option<R>,
        outcome: Outcome<R>,
        directive: Option<RetryDirective>,
        sent: impl Driver,
    ) -> ControlFlow<End<R>>
    where
        L: LimitsOn<R>,
    {
        let directive = directive.map(|directive| A::remember(&mut self.state, directive));
        let decision = self.operation.settle_or_end(settings.call(), directive, sent);
        self.operation.finish(settings.call(), decision, last, outcome)
    }

    /// Waits until the attempt is due, or until a limit prevents it.
    fn poll_wait<P, C, A>(&mut self, settings: &Settings<S, P, C, A, T, O, L>, context: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(wait) = &mut self.wait {
                ready!(wait.poll_unguarded(context));
            }
            self.wait = settings.call().unguarded_wait(&mut self.operation);
            if self.wait.is_none() {
                return Poll::Ready(());
            }
        }
    }
}

/// The result of sending the request of an attempt.
#[derive(Clone, Copy)]
pub(super) struct Sent {
    /// Whether the service took it.
    pub(super) was_sent: bool,
    /// Whether there is a clone for another attempt.
    pub(super) is_repeatable: bool,
}

impl Driver for Sent {
    fn was_sent(&self) -> bool {
        self.was_sent
    }

    fn is_repeatable(&self) -> bool {
        self.is_repeatable
    }
}

/// Sends one attempt after the other: polls the service until it is ready, calls it, and polls the response.
struct Sender<Svc: Service<Req>, Req> {
    service: Svc,
    is_ready: bool,
    /// The request until the service is called.
    request: Option<Req>,
    response: Pin<Box<Option<Svc::Future>>>,
}

impl<Svc: Service<Req>, Req> Sender<Svc, Req> {
    /// Drops what is left of an attempt.
    fn stop(&mut self) {
        self.request = None;
        self.response.set(None);
    }

    /// Sends the request, if it is not sent yet, and polls the response.
    fn poll(&mut self, is_sent: &mut bool, context: &mut Context<'_>) -> Poll<Result<Svc::Response, Svc::Error>> {
        let Self { service, is_ready, request, response } = self;
        if request.is_some() && !*is_ready {
            ready!(service.poll_ready(context))?;
        }
        if let Some(request) = request.take() {
            (*is_ready, *is_sent) = (false, true);
            response.set(Some(service.call(request)));
        }
        match response.as_mut().as_pin_mut() {
            Some(response) => response.poll(context),
            None => Poll::Pending,
        }
    }
}

/// An attempt that runs.
struct Sending<'a, Svc: Service<Req>, Req> {
    running: &'a mut explored::Running,
    sender: &'a mut Sender<Svc, Req>,
    is_sent: &'a mut bool,
}

impl<Svc: Service<Req>, Req> Future for Sending<'_, Svc, Req> {
    type Output = Outcome<Result<Svc::Response, Svc::Error>>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { running, sender, is_sent } = &mut *self;
        running.poll(|| sender.poll(is_sent, context))
    }
}

impl<Svc, Req, S, P, C, A, T, O, L> fmt::Debug for ResponseFuture<Svc, Req, S, P, C, A, T, O, L>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    A: ChangeRequest<Req>,
    T: Timer,
    O: OptionalObserver,
    L: LimitsOn<Result<Svc::Response, Svc::Error>>,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
