//! The future of one request, which drives its operation.

use super::{Hooks, OnEnd, OnRetry, RequestsOf, TimeOf};
use retry_core::drive::{Cut, Due, Ended, Operation, OperationBuilder, Outcome, Running, Settled, TimeLeft, Wait};
use retry_core::retry::OptionalObserver;
use retry_core::{Event, RetryPolicy, RetryStrategy, Timer};
use std::fmt;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_service::Service;

/// The future of a request that is retried. [`RetryService`](super::RetryService) returns it.
///
/// It is [`Send`] if its parts are. The response future of the inner service is boxed, once for all attempts.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture<Svc, Req, S, P, R, T, O>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
    O: OptionalObserver,
{
    // Dropped first: the token of an attempt that was not sent is released before the service learns of the end.
    stage: Stage<S, T::Timer, O>,
    policy: P,
    requests: R,
    /// The request of the next attempt. `None` if the request can't be cloned.
    request: Option<Req>,
    sender: Sender<Svc, Req>,
    last: Option<Result<Svc::Response, Svc::Error>>,
}

/// The stages of a request.
#[expect(clippy::large_enum_variant, reason = "a box would be an allocation for each request")]
enum Stage<S: RetryStrategy, T: Timer, O: OptionalObserver> {
    /// The future was not polled yet.
    New(OperationBuilder<S, T, O>),
    /// The operation is under way.
    Driven(Driven<S, T, O>),
    /// The future was ready.
    Done,
}

/// An operation that is under way.
struct Driven<S: RetryStrategy, T: Timer, O: OptionalObserver> {
    operation: Operation<S, T, O>,
    wait: Option<Wait<T::Sleep>>,
    /// The attempt that runs, and its time limit. `None` while the operation waits.
    attempt: Option<(Running, Option<TimeLeft<T::Sleep>>)>,
}

impl<Svc, Req, S, P, R, T, O> ResponseFuture<Svc, Req, S, P, R, T, O>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
    O: OptionalObserver,
{
    /// Creates the future of a request to a service that is ready.
    pub(super) fn new(
        service: Svc,
        request: Req,
        (policy, requests): (P, R),
        operation: OperationBuilder<S, T::Timer, O>,
    ) -> Self {
        let sender = Sender { service, is_ready: true, request: None, response: Box::pin(None) };
        Self { stage: Stage::New(operation), policy, requests, request: Some(request), sender, last: None }
    }
}

/// Nothing is pinned in place: the response future and the sleeps are boxed.
impl<Svc, Req, S, P, R, T, O> Unpin for ResponseFuture<Svc, Req, S, P, R, T, O>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
    O: OptionalObserver,
{
}

impl<Svc, Req, S, P, R, T, O> Future for ResponseFuture<Svc, Req, S, P, R, T, O>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    R: RequestsOf<Req, Result<Svc::Response, Svc::Error>>,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
    O: OptionalObserver,
{
    type Output = Result<Svc::Response, Svc::Error>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let outcome = ready!(this.poll_outcome(context));
        this.stage = Stage::Done;
        // Without limits, no operation ends without an outcome.
        outcome.map_or(Poll::Pending, Poll::Ready)
    }
}

impl<Svc, Req, S, P, R, T, O> ResponseFuture<Svc, Req, S, P, R, T, O>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    P: RetryPolicy<Result<Svc::Response, Svc::Error>>,
    R: RequestsOf<Req, Result<Svc::Response, Svc::Error>>,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
    O: OptionalObserver,
{
    /// Drives the operation to its end.
    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Svc::Response, Svc::Error>>> {
        let Self { stage, policy, requests, request, sender, last } = self;
        if let Stage::New(_) = stage
            && let Stage::New(operation) = mem::replace(stage, Stage::Done)
        {
            *stage = Stage::Driven(Driven { operation: operation.begin(), wait: None, attempt: None });
        }
        let Stage::Driven(Driven { operation, wait, attempt }) = stage else { return Poll::Pending };
        loop {
            let (running, time_left) = if let Some(attempt) = attempt {
                attempt
            } else {
                if let Some(wait) = wait {
                    ready!(Pin::new(wait).poll(context));
                }
                match operation.due() {
                    Due::Wait(next) => {
                        *wait = Some(next);
                        continue;
                    }
                    Due::Stop(ended) => {
                        return Poll::Ready(out_of_time::<_, T>(operation, requests.hooks(), last, ended));
                    }
                    Due::Attempt => *wait = None,
                }
                let clone = request.as_ref().and_then(|request| requests.clone_request(request));
                let attempt = attempt.insert((operation.attempt(), operation.time_left()));
                sender.request = mem::replace(request, clone);
                if let Some(request) = &mut sender.request {
                    requests.change_request(request, || operation.context());
                }
                attempt
            };
            let outcome = match running.poll(|| sender.poll(operation, context)) {
                Poll::Ready(outcome) => outcome,
                Poll::Pending => {
                    let Some(time_left) = time_left else { return Poll::Pending };
                    ready!(Pin::new(time_left).poll(context));
                    sender.stop();
                    match operation.cut() {
                        Cut::Attempt(timed_out) => match T::timed_out(timed_out) {
                            Some(outcome) => Outcome::new(outcome),
                            None => return Poll::Ready(None),
                        },
                        Cut::Operation(ended) => {
                            return Poll::Ready(out_of_time::<_, T>(operation, requests.hooks(), last, ended));
                        }
                    }
                }
            };
            sender.stop();
            if request.is_none() {
                operation.not_repeatable();
            }
            let directive = operation.evaluate(policy, &outcome);
            let settled = operation.settle_outcome(directive, policy, &outcome);
            let failure = operation.take_failure();
            if let Settled::Done(ended) = settled {
                let outcome = outcome.last();
                conclude(requests.hooks(), &outcome, failure, ended);
                return Poll::Ready(Some(outcome));
            }
            if let Some(outcome) = outcome.kept() {
                if let Some(event) = failure
                    && requests.hooks().on_retry.on_retry(&outcome, &event).is_break()
                {
                    conclude(requests.hooks(), &outcome, None, operation.give_up());
                    return Poll::Ready(Some(outcome));
                }
                if let Some(request) = request {
                    requests.next_request(request, &outcome);
                }
                *last = Some(outcome);
            }
            *attempt = None;
        }
    }
}

/// Returns the outcome of a request whose time is over.
fn out_of_time<R, T: TimeOf<R>>(
    operation: &mut Operation<impl RetryStrategy, impl Timer, impl OptionalObserver>,
    hooks: &Hooks<impl OnRetry<R>, impl OnEnd<R>>,
    last: &mut Option<R>,
    ended: Ended,
) -> Option<R> {
    let outcome = ended.last_or(last.take(), T::timed_out)?;
    conclude(hooks, &outcome, operation.take_failure(), ended);
    Some(outcome)
}

/// Calls the hooks at the end of a request.
fn conclude<R>(hooks: &Hooks<impl OnRetry<R>, impl OnEnd<R>>, outcome: &R, failure: Option<Event>, ended: Ended) {
    if let Some(event) = failure {
        // There is nothing left to end.
        let _ended = hooks.on_retry.on_retry(outcome, &event);
    }
    hooks.on_end.on_end(|| ended.report(outcome));
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
    fn poll<S: RetryStrategy, T: Timer, O: OptionalObserver>(
        &mut self,
        operation: &mut Operation<S, T, O>,
        context: &mut Context<'_>,
    ) -> Poll<Result<Svc::Response, Svc::Error>> {
        let Self { service, is_ready, request, response } = self;
        if request.is_some() && !*is_ready {
            ready!(service.poll_ready(context))?;
        }
        if let Some(request) = request.take() {
            *is_ready = false;
            operation.sent();
            response.set(Some(service.call(request)));
        }
        match response.as_mut().as_pin_mut() {
            Some(response) => response.poll(context),
            None => Poll::Pending,
        }
    }
}

impl<Svc, Req, S, P, R, T, O> fmt::Debug for ResponseFuture<Svc, Req, S, P, R, T, O>
where
    Svc: Service<Req>,
    S: RetryStrategy,
    T: TimeOf<Result<Svc::Response, Svc::Error>>,
    O: OptionalObserver,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
